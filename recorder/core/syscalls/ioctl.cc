// ioctl: the outputs of a request, from tables and from the direction and size encoded in newer numbers (ioctl(2)).
#include <linux/sockios.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/ioctl_buffers.h"
#include "recorder/core/syscalls/ioctl_requests.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kIn = 1, kOut = 2;  // _IOC_WRITE, _IOC_READ
std::uint32_t direction_of(std::uint32_t request) { return request >> 30; }
std::uint64_t size_of(std::uint32_t request) { return request >> 16 & 0x3fff; }

// The most bytes that a request writes at its argument.
std::uint64_t output_of(std::uint32_t request) {
  if (const Request* known = find_request(request)) return known->bytes;
  if (is_of_sockets(request)) return socket_output(request);
  return (direction_of(request) & kOut) != 0 ? size_of(request) : 0;
}

// Before the call: true if the request may write memory that neither the tables nor its number describe.
bool leads_elsewhere(std::uint32_t request, std::uint64_t argument) {
  if (find_request(request) != nullptr) return false;
  if (beyond_us(request) != nullptr) return true;
  if (has_outputs_apart(request)) return leads_further(request, argument);
  if (is_of_sockets(request)) return request == SIOCWANDEV;
  if (direction_of(request) == 0 && size_of(request) == 0) return region_at(argument) != nullptr;
  return (direction_of(request) & kIn) != 0 && holds_address(argument, size_of(request));
}

[[noreturn]] void unknown_request(std::uint32_t request) {
  Text text;
  text << "ioctl request ";
  text.hex(request);
  if (const char* name = beyond_us(request))
    text << " (" << name << ") cannot be recorded: Reweave does not know what memory it writes";
  else
    text << " cannot be recorded: its argument leads to memory that Reweave does not know how to record; add the "
            "request to recorder/core/syscalls/ioctl_buffers.cc, or to ioctl_requests.cc if nothing is written there";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

// True if the descriptor does not support the request at all.
bool is_misplaced(long result) { return result == -ENOTTY || result == -EBADF; }

// A failed request may still have written its argument, for example the part that it could not do.
std::uint32_t gather(std::uint32_t request, long argument, long result, Output* to) {
  std::uint32_t n = 0;
  if (is_misplaced(result)) return 0;
  const std::uint64_t bytes = output_of(request);
  if (argument != 0 && bytes != 0) to[n++] = {static_cast<std::uint64_t>(argument), bytes};
  if (argument != 0 && !is_error(result)) n += outputs_apart(request, argument, result, to + n);
  // The sizes are upper bounds.
  for (std::uint32_t i = 0; i < n; i++) to[i].bytes = bytes_writable(to[i].address, to[i].bytes);
  return n;
}

}  // namespace

long handle_ioctl(Call& call) {
  const auto request = static_cast<std::uint32_t>(call.args[1]);
  const Request* known = find_request(request);
  if (known != nullptr && known->no_argument) use_arguments(call, 2);
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  if (!live()) return answered_call(call);
  long answer = 0;
  if (is_of_listener(request) && handle_listener(call, answer)) return answer;
  const bool unknown = leads_elsewhere(request, static_cast<std::uint64_t>(call.args[2]));
  const long result = lent_call(SYS_ioctl, call.args[0], call.args[1], call.args[2]);
  if (unknown && !is_error(result)) unknown_request(request);  // a failed request has no output but its error
  if (gives_descriptor(request) && !is_error(result)) forget_fd(result);
  Output outputs[1 + kMostApart];
  log_call(call, result, outputs, gather(request, call.args[2], result, outputs));
  return result;
}

}  // namespace reweave::core

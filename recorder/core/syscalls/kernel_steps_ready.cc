// Calls that look for ready descriptors. Readiness for writing is not noted: it says nothing about other threads.
#include <poll.h>
#include <sys/epoll.h>

#include "recorder/core/syscalls/kernel_step_handlers.h"
#include "recorder/core/syscalls/kernel_step_notes.h"
#include "recorder/core/syscalls/outputs.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kReadable = POLLIN | POLLPRI | POLLHUP | POLLERR | POLLRDHUP;
static_assert(EPOLLIN == POLLIN && EPOLLPRI == POLLPRI && EPOLLHUP == POLLHUP && EPOLLERR == POLLERR);

void note_polled(const Call& call) {
  const auto address = static_cast<std::uint64_t>(call.logged[0]);
  const std::uint64_t count = static_cast<std::uint32_t>(call.logged[1]);
  if (!is_there(address, count * sizeof(pollfd))) return;
  const auto* each = reinterpret_cast<const pollfd*>(address);
  for (std::uint64_t i = 0; i < count; i++)
    if ((static_cast<std::uint32_t>(each[i].revents) & kReadable) != 0) note(call, KernelStep::kReceives, each[i].fd);
}

void note_selected(const Call& call, int argument) {
  constexpr std::uint64_t kBits = 64;
  const auto address = static_cast<std::uint64_t>(call.logged[argument]);
  const std::uint64_t count = static_cast<std::uint32_t>(call.logged[0]);
  if (address == 0 || !is_there(address, (count + kBits - 1) / kBits * sizeof(std::uint64_t))) return;
  const auto* words = reinterpret_cast<const std::uint64_t*>(address);
  for (std::uint64_t fd = 0; fd < count; fd++)
    if ((words[fd / kBits] >> (fd % kBits) & 1) != 0) note(call, KernelStep::kReceives, static_cast<long>(fd));
}

void note_epoll(const Call& call, long result) {
  const auto address = static_cast<std::uint64_t>(call.logged[1]);
  const auto count = static_cast<std::uint64_t>(result);
  if (!is_there(address, count * sizeof(epoll_event))) return;
  const auto* each = reinterpret_cast<const epoll_event*>(address);
  for (std::uint64_t i = 0; i < count; i++)
    if ((each[i].events & kReadable) != 0)
      note(call, KernelStep::kReady, static_cast<long>(descriptor(call.logged[0])), each[i].data.u64);
}

}  // namespace

void after_poll(const Call& call, long result) {
  if (result > 0) note_polled(call);
}

void after_select(const Call& call, long result) {
  if (result <= 0) return;
  note_selected(call, 1);
  note_selected(call, 3);
}

void after_epoll_wait(const Call& call, long result) {
  if (result > 0) note_epoll(call, result);
}

}  // namespace reweave::core

#include "recorder/core/syscalls/memory/process_memory.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/proc/proc_path.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

// The process whose memory is open as `fd`, according to the kernel's link: /proc/PID/mem or /proc/PID/task/TID/mem.
const Process* owner_of_memory(long fd) {
  char link[64];
  if (is_error(path_of_fd(fd, link, sizeof link))) return nullptr;
  const ProcPath parts = parse_proc_path(link);
  return parts.file != nullptr && string_equal(parts.file, "mem") ? process_of(parts) : nullptr;
}

void log_piece(long memory, const Process& owner, std::uint64_t address, std::uint64_t bytes) {
  PseudoCall record(wire::kMemoryChanged, bytes);
  record.fields().args[0] = owner.index;
  record.append_file(address, memory, bytes);
  record.commit();
}

}  // namespace

long open_memory(const Process& process) {
  Text name;
  name << process.real_pid << "/mem";
  return sys(SYS_openat, kProcFd, name.c_str(), O_RDWR | O_CLOEXEC);
}

void log_memory_change(const Call& call, std::uint64_t address, std::uint64_t bytes) {
  const Process* owner = owner_of_memory(call.args[0]);
  const long memory = owner == nullptr ? -1 : open_memory(*owner);
  if (memory < 0) return;
  while (bytes != 0) {
    const std::uint64_t piece = bytes < kPieceBytes ? bytes : kPieceBytes;
    log_piece(memory, *owner, address, piece);
    address += piece;
    bytes -= piece;
  }
  sys(SYS_close, memory);
}

void repeat_memory_change(const wire::SyscallRecord& record) {
  const wire::OutputChunk* chunk = sole_chunk(record.header);
  const bool sound =
      chunk != nullptr && record.args[0] < state().process_count && state().processes[record.args[0]].alive != 0;
  if (!sound) diverged("changed the memory of a process", &record.header);
  const long memory = open_memory(state().processes[record.args[0]]);
  const long written = memory < 0 ? memory : sys(SYS_pwrite64, memory, chunk + 1, chunk->bytes, chunk->address);
  if (memory >= 0) sys(SYS_close, memory);
  if (written != static_cast<long>(chunk->bytes)) diverged("could not change the memory of a process", &record.header);
}

// Recordings and replays carry out writes to processes of the tree. A replay does not repeat writes to other processes.
long handle_process_vm_writev(Call& call) {
  const Process* target = process_by_pid(call.args[0]);
  if (target == nullptr || modelled()) return recorded_call(call);
  return complete(call, sys(SYS_process_vm_writev, kernel_id(*target), call.args[1], call.args[2], call.args[3],
                            call.args[4], call.args[5]));
}

namespace {

struct IoVector {
  std::uint64_t base, bytes;
};

// Visits the first `left` bytes of the ranges at `address`.
template <typename Use>
void for_ranges(std::uint64_t address, long count, std::uint64_t left, Use use) {
  const auto* range = reinterpret_cast<const IoVector*>(address);
  for (long i = 0; i < count && left > 0; i++) {
    const std::uint64_t bytes = range[i].bytes < left ? range[i].bytes : left;
    use(range[i].base, bytes);
    left -= bytes;
  }
}

// The range in which a call that advised on `done` bytes ended.
IoVector range_after(std::uint64_t address, long count, std::uint64_t done) {
  const auto* range = reinterpret_cast<const IoVector*>(address);
  for (long i = 0; i < count; i++) {
    if (done < range[i].bytes) return range[i];
    done -= range[i].bytes;
  }
  return {};
}

// True if the advice works for the whole part of a range. The kernel continues after a hole (ENOMEM).
bool advises(const Call& call, std::uint64_t start, std::uint64_t bytes) {
  const IoVector part = {start, bytes};
  const long result = sys(SYS_process_madvise, call.args[0], &part, 1, call.args[3], 0);
  return !is_error(result) || result == -ENOMEM;
}

// Logs a call that was not carried out in full; the kernel may have done part of the range in which it ended.
long log_partly_done(Call& call, long result) {
  const std::uint64_t done = is_error(result) ? 0 : static_cast<std::uint64_t>(result);
  const IoVector range = range_after(static_cast<std::uint64_t>(call.args[1]), call.args[2], done);
  if (range.bytes == 0 || range.base % kPage != 0) return log_stopped(call, result, range.base);
  const std::uint64_t end = page_up(range.base + range.bytes);
  const bool whole = advises(call, range.base, range.bytes);
  const std::uint64_t reached =
      whole ? end : reached_before_failure(range.base, end, [&call, &range](std::uint64_t part) {
        return advises(call, range.base, part);
      });
  note_advice(range.base, reached - range.base, call.args[3]);
  return log_stopped(call, result, reached);
}

long repeat_process_advice(Call& call) {
  const auto ranges = static_cast<std::uint64_t>(call.args[1]);
  const long advice = call.args[3];
  long result = 0;
  std::uint64_t reached = 0;
  if (!next_result(call, result)) return inject(call);
  const std::uint64_t done = result > 0 ? static_cast<std::uint64_t>(result) : 0;
  for_ranges(ranges, call.args[2], done,
             [advice](std::uint64_t at, std::uint64_t n) { sys(SYS_madvise, at, n, repeatable_advice(advice)); });
  if (stopped_at(call, reached)) repeat_advice(range_after(ranges, call.args[2], done).base, reached, advice);
  return inject(call);
}

long advise_process(Call& call) {
  const auto ranges = static_cast<std::uint64_t>(call.args[1]);
  bool ours = false;
  std::uint64_t wanted = 0;
  for_ranges(ranges, call.args[2], ~std::uint64_t{0}, [&ours, &wanted](std::uint64_t at, std::uint64_t n) {
    ours = ours || is_ours(at, n);
    wanted += n;
  });
  if (ours) return complete(call, -ENOMEM);
  const long result = sys(SYS_process_madvise, call.args[0], ranges, call.args[2], repeatable_advice(call.args[3]), 0);
  return result == static_cast<long>(wanted) ? complete(call, result) : log_partly_done(call, result);
}

}  // namespace

// The kernel lets a process give advice that changes memory only to itself (since 6.13), so a replay knows whose memory
// it is.
long handle_process_madvise(Call& call) {
  constexpr long kWillNeed = 3, kCold = 20, kPageOut = 21, kCollapse = 25;
  const long advice = call.args[3];
  if (advice == kWillNeed || advice == kCold || advice == kPageOut || advice == kCollapse) return recorded_call(call);
  if (modelled() || call.args[4] != 0) return complete(call, -EINVAL);
  const long result = replaying() ? repeat_process_advice(call) : advise_process(call);
  if (result > 0)
    for_ranges(static_cast<std::uint64_t>(call.args[1]), call.args[2], static_cast<std::uint64_t>(result),
               [advice](std::uint64_t at, std::uint64_t n) { note_advice(at, n, advice); });
  return result;
}

}  // namespace reweave::core

#include "recorder/core/syscalls/recorded.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/departure.h"
#include "recorder/core/schedule/recorded_switches.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_changes.h"
#include "recorder/core/syscalls/files/kept_files.h"
#include "recorder/core/syscalls/files/streams.h"
#include "recorder/core/syscalls/outputs.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/scratch_arguments.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/syscalls/time_limits.h"

namespace reweave::core {

namespace {

Output outputs[kMaxOutputs];  // of the baton holder's current call

long make_off_baton(Call& call, const Before& before, std::uint32_t& count) {
  ScratchArguments scratch(call);
  call.flags |= wire::kLeftBaton;
  leave_baton();
  const long result = interruptible_syscall(call, call.number, call.args);
  return_from_kernel();
  // The length of a socket address is itself an output: put it in place before sizes are taken from it.
  for (const Out& out : call.row->outs)
    if (out.kind == OutKind::kSocket && !is_error(result)) {
      const Output length = {static_cast<std::uint64_t>(call.logged[out.count]), 4};
      scratch.copy_back(&length, 1);
    }
  count = gather_outputs(call, before, result, outputs);
  scratch.copy_back(outputs, count);
  return result;
}

void note_descriptors(const Call& call, long result) {
  if (is_error(result)) return;
  if ((call.row->flags & kNewFd) != 0) forget_fd(result);
  if ((call.row->flags & kPassesFds) != 0) state().descriptors_passed = 1;
  if ((call.row->flags & kMakesSocket) != 0) note_socket(result, call.logged[0]);
  if ((call.row->flags & kAccepts) != 0) note_accepted(result, call.logged[0]);
  if ((call.row->flags & kNewFdPair) != 0) {
    const auto* pair = reinterpret_cast<const int*>(call.logged[call.row->outs[0].arg]);
    forget_fd(pair[0]);
    forget_fd(pair[1]);
  }
}

bool may_sleep(const Call& call) {
  if ((call.row->flags & kBlocks) != 0) return true;
  return (call.row->flags & kMayBlock) != 0 && fd_may_block(call.args[0]);
}

// True for a non-blocking descriptor: an event loop reads and writes all of its descriptors with the baton. Otherwise
// the other threads would each get a time slice at every such call.
bool returns_at_once(const Call& call) {
  if ((call.row->flags & kBlocks) != 0) return false;
  const long flags = sys(SYS_fcntl, call.args[0], F_GETFL, 0);
  return is_error(flags) || (flags & O_NONBLOCK) != 0;
}

// True if the call must be made without the baton. If no other thread can run meanwhile, it may sleep with the baton.
bool blocks(const Call& call) { return state().live_threads > 1 && may_sleep(call) && !returns_at_once(call); }

// Makes the call with the baton. A signal interrupts only calls that may sleep (signal(7)): programs do not expect
// EINTR from others.
long make(Call& call) {
  const bool sleeps = may_sleep(call);
  lend_baton();
  const long result =
      sleeps ? interruptible_syscall(call, call.number, call.args) : syscall_with_stops(call, call.args);
  if (take_back_baton()) call.flags |= wire::kLeftBaton;
  return result;
}

// Replay: repeats the recorded run's writes to standard output and error.
void repeat_write(const Call& call, long result) {
  if ((call.flags & (wire::kWritesStdout | wire::kWritesStderr)) == 0 || result <= 0) return;
  const int fd = (call.flags & wire::kWritesStdout) != 0 ? 1 : 2;
  auto emit = [fd](std::uint64_t address, std::uint64_t bytes) {
    while (bytes > 0) {
      const long n = sys(SYS_write, fd, address, bytes);
      if (n <= 0 && n != -EINTR && n != -EAGAIN) return;
      if (n > 0) address += static_cast<std::uint64_t>(n), bytes -= static_cast<std::uint64_t>(n);
    }
  };
  if ((call.row->flags & kWritesStream) == 0) return emit(scratch_of(call.me), static_cast<std::uint64_t>(result));
  if (call.row->outs[0].kind != OutKind::kVector)
    return emit(static_cast<std::uint64_t>(call.logged[1]), static_cast<std::uint64_t>(result));
  const auto* vector = reinterpret_cast<const IoVector*>(call.logged[1]);
  const std::uint32_t n = vector_outputs(vector, call.logged[2], result, outputs, 0);
  for (std::uint32_t i = 0; i < n; i++) emit(outputs[i].address, outputs[i].bytes);
}

}  // namespace

long interruptible_syscall(const Call& call, long number, const long* args) {
  TimeLimit limit(number, args);
  for (bool started = false;; args = limit.left()) {
    const std::uint32_t before = call.me.unseen_signals;
    long result = core_blocking_syscall(number, args, interruptions_of(call.me));
    started = started || result != kNotStarted;
    if (started && result == kNotStarted) result = -EINTR;
    const bool kicked = call.me.kicked.load() != 0 && call.me.kicked.exchange(0) != 0;
    if (kicked && call.me.queued.load() == 0 && (result == kNotStarted || result == -EINTR)) {
      if (waits_for_children(call.me)) return kNotStarted;
      continue;
    }
    if (result == -EINTR && call.me.queued.load() == 0 && call.me.unseen_signals != before) continue;
    return result == kNotStarted && (call.row->flags & kRestarts) == 0 ? -EINTR : result;
  }
}

long syscall_with_stops(const Call& call, const long* args) {
  for (;;) {
    const std::uint32_t before = call.me.unseen_signals;
    const long result = sys(call.number, args[0], args[1], args[2], args[3], args[4], args[5]);
    if (result != -EINTR || call.me.queued.load() != 0 || call.me.unseen_signals == before) return result;
  }
}

long answered_call(Call& call) {
  if (replaying()) {
    departure_of(call.me).awaits_answer = true;
    follow_recorded_switches(wire::SwitchReason::kInKernel);
    departure_of(call.me).awaits_answer = false;
  }
  if (replaying() && (call.row->flags & kChangesFile) != 0) repeat_file_changes();
  return replaying() ? inject(call) : explored.answer(call);
}

long recorded_call(Call& call, bool may_block) {
  if (!live()) {
    const long result = answered_call(call);
    if (replaying()) repeat_write(call, result);
    note_descriptors(call, result);
    return result;
  }
  const Before before = look_before(call);
  if ((call.row->flags & kWritesStream) != 0) call.flags |= fd_stream(call.args[0]);
  std::uint32_t count = 0;
  long result;
  call.made = true;
  if (may_block && is_stream_write(call)) {
    result = write_to_stream(call);
  } else if (may_block) {
    result = make_off_baton(call, before, count);
  } else {
    result = make(call);
    count = gather_outputs(call, before, result, outputs);
  }
  if ((call.row->flags & kChangesFile) != 0) log_file_change(call, result);
  if ((call.flags & wire::kLeftBaton) == 0 && reads_kept_file(call, result))
    log_file_read(call, result, outputs[0]);
  else
    log_call(call, result, outputs, count);
  note_descriptors(call, result);
  return result;
}

namespace {

// True for calls that the program must not make: on one of the core's descriptors, or on a path relative to one.
bool names_ours(const Call& call) {
  if ((call.row->flags & (kFirstIsFd | kFirstIsFolder)) == 0 || !is_our_fd(call.logged[0])) return false;
  const auto* path = reinterpret_cast<const char*>(call.args[1]);
  return (call.row->flags & kFirstIsFd) != 0 || path == nullptr || *path != '/';
}

}  // namespace

long recorded_call(Call& call) {
  // An explored run must consume the recorded answer. Otherwise that answer would be used for the next call.
  if (names_ours(call) && !modelled()) return complete(call, -EBADF);
  return recorded_call(call, live() && blocks(call));
}

}  // namespace reweave::core

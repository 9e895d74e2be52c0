#include "recorder/core/explored/recorded/inputs.h"

#include <sys/syscall.h>

#include "recorder/core/explored/recorded/contents.h"
#include "recorder/core/explored/recorded/processes.h"
#include "recorder/core/explored/tasks/timers.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr long kHears[] = {SYS_read,    SYS_readv,   SYS_recvfrom, SYS_recvmsg,
                           SYS_preadv2, SYS_accept4, SYS_accept,   SYS_recvmmsg};
constexpr long kSends[] = {SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_sendfile};

template <std::size_t N>
bool contains(const long (&numbers)[N], long wanted) {
  for (const long number : numbers)
    if (number == wanted) return true;
  return false;
}

bool was_too_early(const RecordedCall& call) {
  const long result = record_of(call).result;
  return result == -EAGAIN || result == -EINTR || result == -512 /* ERESTARTSYS */;
}

// The next input of `file`, whether or not it has arrived.
RecordedCall* next_of(std::uint32_t file) {
  for (RecordedCall* call = first_input(file); call != nullptr; call = next_input(*call))
    if (!call->used && !was_too_early(*call)) return call;
  return nullptr;
}

bool is_of_same_process(ThreadId recorded, const Thread& thread) {
  const ThreadId twin = recorded_twin(thread);
  return twin != kNoThread && recorded_process_of(recorded) == recorded_process_of(twin);
}

// The receiver: the thread that received it in the recording, or another of its process that does not block it.
Thread* receiver(const wire::SignalRecord& signal) {
  const std::uint64_t bit = signal_bit(static_cast<int>(signal.number));
  const ThreadId recorded = signal.header.thread;
  Thread* found = nullptr;
  for (Thread& thread : live_threads(state())) {
    if ((thread.signal_mask & bit) != 0 || !is_of_same_process(recorded, thread)) continue;
    if (found == nullptr || recorded_twin(thread) == recorded) found = &thread;
  }
  return found;
}

// True if as many schedule points have passed as in the recording, or if there were inputs before the signal and all of
// them have been used.
bool is_due(const wire::SignalRecord& signal) {
  if (signal.step <= state().step) return true;
  const auto offset = reinterpret_cast<std::uint64_t>(&signal) - kFeedBase;
  bool some = false;
  for (std::uint32_t file = 0; file < recorded_file_count(); file++)
    for (const RecordedCall* call = first_input(file); call != nullptr && call->offset < offset;
         call = next_input(*call)) {
      some = true;
      if (!call->used && !was_too_early(*call)) return false;
    }
  return some;
}

// True for the program's own kill(2), tgkill(2) and the like, and for signals about the end of a process: the run
// repeats those itself. False for timers and others outside.
bool is_own(const wire::SignalRecord& signal) {
  std::int32_t words[5];  // of siginfo_t: number, error, code, padding, sender
  memcpy(words, signal.info, sizeof words);
  constexpr std::int32_t kUser = 0, kQueue = -1, kThread = -6;  // SI_USER, SI_QUEUE, SI_TKILL
  const bool is_sent = words[2] == kUser || words[2] == kQueue || words[2] == kThread;
  const bool is_of_child = words[0] == SIGCHLD && words[2] > 0;
  return (is_sent || is_of_child) && is_recorded_pid(words[4]);
}

}  // namespace

bool hears_outside(long number) { return contains(kHears, number); }
bool sends_outside(long number) { return contains(kSends, number); }

bool outside_readable(std::uint32_t file) {
  if (file == kNothing) return false;
  const RecordedFile& at = recorded_file(file);
  if (at.source != Source::kRecorded || reliable_contents(at) != nullptr) return true;
  const RecordedCall* input = next_of(file);
  return input != nullptr && input->outputs_before <= at.outputs_made;
}

std::uint64_t outside_changes(std::uint32_t file) {
  const RecordedCall* input = next_of(file);
  return input == nullptr ? 0 : input->offset + 1;
}

void expect_input(std::uint32_t file) {
  const RecordedCall* input = next_of(file);
  for (RecordedCall* call = first_input(file); call != nullptr && call != input; call = next_input(*call))
    call->used = true;
}

void note_output(std::uint32_t file) { recorded_file(file).outputs_made++; }

bool hurry_input(std::uint32_t file) {
  const RecordedCall* input = next_of(file);
  if (input == nullptr) return false;
  std::uint32_t& made = recorded_file(file).outputs_made;
  if (made < input->outputs_before) made = input->outputs_before;
  return true;
}

bool is_sent_by_program(long signal) {
  if (signal <= 0) return true;
  for (const long number : {SYS_kill, SYS_tkill, SYS_tgkill})
    for (const RecordedCall* call = first_recorded(number); call != nullptr; call = next_recorded(*call))
      if (record_of(*call).args[find_row(number)->at.signal] == static_cast<std::uint64_t>(signal)) return true;
  return false;
}

bool signal_from_outside(bool late) {
  for (;;) {
    const wire::SignalRecord* signal = next_outside_signal();
    if (signal != nullptr && (is_own(*signal) || is_of_timer(*signal))) {
      take_outside_signal();
      continue;
    }
    if (signal == nullptr || (!late && !is_due(*signal))) return false;
    const auto number = static_cast<int>(signal->number);
    Thread* to = receiver(*signal);
    take_outside_signal();
    // A signal that would end or stop the process is not part of the program's behaviour.
    if (to == nullptr || action_of(*to, number).handler <= 1) continue;
    queue_signal(*to, number, signal->info, true);
    if (to->state.load() != ThreadState::kBlocked || to->wait.kind == WaitKind::kVfork) continue;
    to->expired.store(kInterruptedMark);
    return true;
  }
}

}  // namespace reweave::core

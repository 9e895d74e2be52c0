#include "recorder/supervisor/tree/deadlock_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "recorder/supervisor/target/baton.h"

namespace reweave {

namespace {

constexpr std::chrono::seconds kDeadlockLook{1};
constexpr int kRestPerLook = 50;  // looking at thousands of threads may take long: at most 2 % of the time
// A signal that the program has sent itself may still be on its way.
constexpr std::chrono::seconds kPatienceIfAll{1};
// Another thread could be about to end a process that it knows to be stuck.
constexpr std::chrono::seconds kPatienceIfSome{10};

}  // namespace

void DeadlockWatch::look(Clock::time_point now) {
  if (now < next_) return;
  const auto begin = Clock::now();
  const auto stuck = deadlock();
  next_ = now + std::max<Clock::duration>(kDeadlockLook, (Clock::now() - begin) * kRestPerLook);
  if (!stuck) found_.clear();
  if (!stuck || !is_old_enough(*stuck, now)) return;
  RuntimeState& state = arena_.state();
  if (arena_.published().bytes > kOutRingBytes / 2 || !take_free_baton(state)) return;
  const auto still = deadlock();  // nothing moves now
  if (still && signature_of(*still) == found_) return end_run(describe(state, *still));
  free_baton(state);
}

std::optional<StuckThreads> DeadlockWatch::deadlock() const {
  StuckThreads stuck = find_stuck_threads(arena_.state(), view_);
  if (stuck.all || stuck.circle || stuck.process) return stuck;
  return {};
}

bool DeadlockWatch::is_old_enough(const StuckThreads& stuck, Clock::time_point now) {
  const std::string signature = signature_of(stuck);
  if (signature != found_) {
    found_ = signature;
    found_since_ = now;
  }
  return now - found_since_ >= (stuck.all ? kPatienceIfAll : kPatienceIfSome);
}

std::string DeadlockWatch::signature_of(const StuckThreads& stuck) const {
  std::string signature;
  for (const StuckThread& entry : stuck.threads) {
    const Thread& thread = arena_.state().threads[entry.thread];
    signature += fmt::format("{} {} {} {};", thread.id, thread.wait.order, thread.ticks, entry.in_kernel ? 1 : 0);
  }
  return signature;
}

// The supervisor has the baton and keeps it.
void DeadlockWatch::end_run(const std::string& text) {
  const RuntimeState& state = arena_.state();
  const std::uint64_t text_bytes = round_to(text.size() + 1, 8);
  std::vector<std::byte> bytes(sizeof(wire::OutcomeRecord) + text_bytes);
  wire::OutcomeRecord record = {};
  record.header = {static_cast<std::uint16_t>(wire::RecordKind::kOutcome), static_cast<ThreadId>(state.last_holder),
                   static_cast<std::uint32_t>(bytes.size())};
  record.outcome = static_cast<std::uint32_t>(wire::OutcomeKind::kDeadlock);
  record.step = state.step;
  std::memcpy(bytes.data(), &record, sizeof record);
  std::memcpy(bytes.data() + sizeof record, text.data(), text.size());
  arena_.publish(bytes.data(), bytes.size());
  RunStatus& status = arena_.header().status;
  status.message[text.copy(status.message, sizeof status.message - 1)] = 0;
  status.outcome = record.outcome;
  status.fatal.store(1);
}

}  // namespace reweave

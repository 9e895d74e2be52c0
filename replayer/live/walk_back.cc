// Timeline's search for the last stop, or step, before an instant.
#include <algorithm>

#include "formats/base/error.h"
#include "replayer/live/timeline.h"

namespace reweave {

namespace {

bool is_end(const Stop& stop) {
  return stop.reason == StopReason::kHeld || stop.reason == StopReason::kExited || stop.reason == StopReason::kKilled;
}

// True if no block is wanted, or the thread is about to release the wanted one.
bool is_wanted_call(const TracedProcess& process, pid_t lwp, const Wanted& wanted) {
  if (!wanted.in_block) return true;
  constexpr std::uint64_t kSizeFlags = 7, kMapped = 2, kWord = 8;  // parts of the size word before a glibc block
  const std::uint64_t block = process.registers(lwp).rdi;
  std::uint64_t size = 0;
  if (block == 0 || *wanted.in_block < block || !process.read(block - kWord, &size, sizeof size)) return false;
  const std::uint64_t overhead = (size & kMapped) != 0 ? 2 * kWord : kWord;
  return *wanted.in_block - block + overhead < (size & ~kSizeFlags);
}

// Counts the arrivals at addresses.
class Arrivals {
 public:
  // Call this when a thread has reached an instruction.
  Position note(const TracedProcess& process, pid_t lwp) {
    const std::uint64_t pc = process.registers(lwp).rip;
    const Position here = {process.core().progress(), index_of(process, lwp).value_or(0), pc, 1, 0};
    Position& last = last_[pc];
    const bool again = last.progress == here.progress && last.thread == here.thread && last.pc == pc;
    const std::uint64_t arrival = again ? last.arrival + 1 : 1;
    last = here;
    last.arrival = arrival;
    return last;
  }

 private:
  std::map<std::uint64_t, Position> last_;  // by address
};

}  // namespace

// Finds all stops of the replay from event `start` until `end`, or until event `limit`.
Timeline::Scan Timeline::scan(std::uint64_t start, const Position& end, bool to_end, std::uint64_t limit,
                              const Wanted& wanted) {
  Scan scan;
  scan.start = start;
  const std::unique_ptr<HeldReplay> replay = hold(std::to_string(start), true);
  TracedProcess& process = replay->process();
  process.watches = wanted.watches;
  process.passes_all_signals = true;
  process.quick_loops = true;
  // Does not hold at `limit`: another process of the tree may take that event, and would wait there forever.
  const std::uint64_t until = to_end ? ~0ull : limit;
  Arrivals arrivals;
  std::uint64_t watched = 0;
  Stop stop = process.run({.lands = true}, false);
  process.breakpoints = wanted.breakpoints;
  if (end.pc != 0) process.breakpoints.insert(end.pc);
  for (; !is_end(stop); stop = process.run({}, false)) {
    if (process.core().progress() > end.progress) break;
    if (process.core().progress().event >= until) break;
    Hit hit = {stop, {}};
    if (stop.reason == StopReason::kWatched) {
      hit.fault = process.faults;
      hit.watched = ++watched;
      scan.hits.push_back(hit);
    }
    const std::uint64_t pc = process.registers(stop.lwp).rip;
    const bool arrives = stop.reason != StopReason::kWatched || process.breakpoints.count(pc) == 0 || stop.late;
    if (!arrives) continue;  // the breakpoint at this address is hit next
    const Position here = arrivals.note(process, stop.lwp);
    if (to_end && here == end) break;
    hit.position = here;
    if (wanted.breakpoints.count(pc) != 0 && is_wanted_call(process, stop.lwp, wanted)) scan.hits.push_back(hit);
  }
  return scan;
}

Found Timeline::back(const Position& position, const Wanted& wanted) {
  CHECK(position.steps == 0, "a walk back from within steps");
  if (last_found_ == position && wanted == last_wanted_ && last_scan_.hits.size() > 1) {
    last_scan_.hits.pop_back();
    return go_to_hit(last_scan_, last_scan_.hits.back(), wanted);
  }
  std::uint64_t start = event_to_hold(position.progress.event), limit = 0, size = 4;
  if (position.pc == 0) {  // the end of the run
    limit = ~0ull;
    start = std::max(start - std::min(start, size), first_event_);
  }
  for (bool to_end = position.pc != 0;; to_end = false) {
    Scan found = scan(start, position, to_end, limit, wanted);
    if (!found.hits.empty()) {
      last_scan_ = std::move(found);
      last_wanted_ = wanted;
      return go_to_hit(last_scan_, last_scan_.hits.back(), wanted);
    }
    if (start <= first_event_) return at_begin();
    limit = start;
    start = start - first_event_ > size ? start - size : first_event_;
    size *= 4;
  }
}

Found Timeline::go_to_hit(const Scan& scan, const Hit& hit, const Wanted& wanted) {
  last_found_.reset();
  if (hit.stop.reason == StopReason::kWatched) return go_to_write(scan, hit, wanted);
  last_found_ = hit.position;
  Found found = {seek(hit.position), hit.stop, false};
  found.stop.lwp = found.place.lwp;
  return found;
}

// Goes to the instruction that is about to write.
Found Timeline::go_to_write(const Scan& scan, const Hit& hit, const Wanted& wanted) {
  Found found = {{hold(std::to_string(scan.start), true), 0, {}}, hit.stop, false};
  TracedProcess& process = found.place.process();
  process.watches = wanted.watches;
  process.passes_all_signals = true;
  process.quick_loops = true;
  if (!hit.stop.late) process.stop_at_fault = hit.fault;
  std::uint64_t watched = 0;
  Stop stop = process.run({.lands = true});
  for (;; stop = process.run({})) {
    REQUIRE(!is_end(stop), "the replay ended on the way back");
    if (stop.reason == StopReason::kAboutToWrite) break;
    if (stop.reason == StopReason::kWatched && ++watched == hit.watched && hit.stop.late) break;
  }
  process.unwatch();
  process.show_loops();
  process.passes_all_signals = false;
  // The fault has left the resume flag set.
  constexpr std::uint64_t kResume = 0x10000;
  user_regs_struct values = process.registers(stop.lwp);
  values.eflags &= ~kResume;
  process.set_registers(stop.lwp, values);
  found.place.lwp = found.stop.lwp = stop.lwp;
  if (!hit.stop.late) return found;
  const Position behind = position_of(process, stop.lwp);
  Found before = step_back(behind, behind.thread);
  before.stop = hit.stop;
  before.stop.lwp = before.place.lwp;
  return before;
}

Found Timeline::at_begin() {
  Found found;
  found.place = land(first_event_);
  REQUIRE(found.place.lwp != 0, "the recording ends before its program begins");
  found.stop = {StopReason::kStepped, found.place.lwp, 0, 0};
  found.at_begin = true;
  found.place.process().passes_all_signals = false;
  return found;
}

Found Timeline::step_back(const Position& position, std::uint32_t thread) {
  std::optional<Position> before;
  if (position.thread == thread) before = trail_.before(position);
  if (!before && position.thread == thread && position.steps > 0) {
    before = position;
    before->steps--;
  } else if (!before && position.thread == thread && position.arrival > 1) {
    before = last_step_of_loop(position);
  }
  std::uint64_t start = event_to_hold(position.progress.event);
  for (std::uint64_t size = 1; !before; size *= 2) {
    before = last_step(start, position, thread);
    if (!before && start <= first_event_) return at_begin();
    start = start - first_event_ > size ? start - size : first_event_;
  }
  Found found = {seek(*before), {}, false};
  found.stop = {StopReason::kStepped, found.place.lwp, 0, 0};
  return found;
}

// The instruction before `end`, if the thread reached the same address before with the same progress.
std::optional<Position> Timeline::last_step_of_loop(const Position& end) {
  Position base = end;
  base.arrival--;
  Place place = seek(base);
  TracedProcess& process = place.process();
  process.passes_all_signals = true;
  for (base.steps = 1;; base.steps++) {
    const Stop stop = process.run({.thread = place.lwp, .step = true}, false);
    REQUIRE(!is_end(stop) && process.core().progress() <= end.progress, "the replay ended on the way back");
    if (process.registers(place.lwp).rip == end.pc && process.core().progress() == end.progress) break;
  }
  base.steps--;
  return base;
}

// The thread's last instruction at or after event `start` and before `end`.
std::optional<Position> Timeline::last_step(std::uint64_t start, const Position& end, std::uint32_t thread) {
  Place place = land(start);
  if (place.lwp == 0) return {};
  TracedProcess& process = place.process();
  const pid_t lwp = lwp_of(process, thread);
  if (lwp == 0) return {};
  trail_ = Trail(thread);
  std::optional<Position> last;
  if (end.thread == thread) {
    step_until_own(process, {StopReason::kStepped, place.lwp, 0, 0}, lwp, end, last);
  } else {
    step_until_other(process, {StopReason::kStepped, place.lwp, 0, 0}, lwp, end, last);
  }
  return last;
}

// Steps until `end`, an instant of the thread that steps.
void Timeline::step_until_own(TracedProcess& process, Stop stop, pid_t lwp, const Position& end,
                              std::optional<Position>& last) {
  bool reached = false;
  const auto visit = [&](std::uint64_t pc) {
    const Progress progress = process.core().progress();
    const Position here = trail_.add(progress, pc);
    reached = progress > end.progress || here == end;
    if (!reached) last = here;
    return !reached;
  };
  process.breakpoints.clear();
  for (; !is_end(stop) && !reached; stop = process.run({.thread = lwp, .step = true}, false)) {
    if (stop.lwp != lwp || stop.reason != StopReason::kStepped) continue;
    if (visit(process.registers(lwp).rip)) process.step_while(lwp, visit);
    if (reached) return;
  }
}

// Steps until `end`, an instant of another thread, which a breakpoint finds.
void Timeline::step_until_other(TracedProcess& process, Stop stop, pid_t lwp, const Position& end,
                                std::optional<Position>& last) {
  process.breakpoints = {end.pc};
  Arrivals at_end;
  for (; !is_end(stop) && process.core().progress() <= end.progress;
       stop = process.run({.thread = lwp, .step = true}, false)) {
    if (stop.reason != StopReason::kStepped && stop.reason != StopReason::kBreakpoint) continue;
    const std::uint64_t pc = process.registers(stop.lwp).rip;
    if (pc == end.pc && at_end.note(process, stop.lwp) == end) break;
    if (stop.lwp == lwp && stop.reason == StopReason::kStepped) last = trail_.add(process.core().progress(), pc);
  }
}

}  // namespace reweave

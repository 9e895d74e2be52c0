#include "replayer/live/timeline.h"

#include <algorithm>
#include <cstdlib>

#include "formats/base/error.h"
#include "replayer/live/memory_hash.h"

namespace reweave {

namespace {

// True if the thread is about to execute the instruction of `position` with the same progress.
bool is_arrival(const TracedProcess& process, pid_t lwp, const Position& position) {
  return lwp != 0 && process.registers(lwp).rip == position.pc && process.core().progress() == position.progress &&
         index_of(process, lwp) == position.thread;
}

bool is_instant(const Stop& stop) {
  return stop.reason == StopReason::kBreakpoint || stop.reason == StopReason::kStepped;
}

void check_alive(const Stop& stop, const Position& position) {
  REQUIRE(stop.reason != StopReason::kExited && stop.reason != StopReason::kKilled, "the replay ended before {}",
          name_of(position));
}

}  // namespace

std::optional<std::uint32_t> index_of(const TracedProcess& process, pid_t lwp) {
  for (const CoreThread& thread : process.core().threads())
    if (thread.real_tid == lwp) return thread.index;
  return {};
}

pid_t lwp_of(const TracedProcess& process, std::uint32_t index) {
  for (const CoreThread& thread : process.core().threads())
    if (thread.index == index) return thread.real_tid;
  return 0;
}

void Timeline::use_checkpoints() { uses_checkpoints_ = std::getenv("REWEAVE_WITHOUT_CHECKPOINTS") == nullptr; }

std::unique_ptr<HeldReplay> Timeline::hold(const std::string& where, bool quiet) {
  std::unique_ptr<HeldReplay> replay;
  if (const auto found = quiet ? spare_.find(std::strtoull(where.c_str(), nullptr, 10)) : spare_.end();
      found != spare_.end()) {
    replay = std::move(found->second);
    spare_.erase(found);
  }
  const std::uint64_t event = std::strtoull(where.c_str(), nullptr, 10);
  if (replay == nullptr && quiet && event != 0) replay = start(event);
  if (replay == nullptr) replay = std::make_unique<HeldReplay>(source_, HelperTask{where, quiet});
  try {
    replay->ready(core_);
  } catch (const BadInput&) {
    if (!replay->is_copy()) throw;
    checkpoints_.forget();  // the system may have killed them because memory ran out
    replay = std::make_unique<HeldReplay>(source_, HelperTask{where, quiet});
    replay->ready(core_);
  }
  // Later replays must show the same process, even if another one runs then.
  if (source_.pid.empty()) source_.pid = std::to_string(replay->place().at("recorded_pid").get<std::int32_t>());
  // After the end of this process others may continue. No replay can hold this one there.
  if (const auto last = replay->place().at("last").get<std::uint64_t>(); last != 0)
    last_event_ = std::min(last_event_, last);
  // A run of several processes cannot be copied exactly.
  const bool alone = replay->place().at("processes") == 1;
  const bool begins = uses_checkpoints_ && alone && !checkpoints_.has_begun() && replay->place().at("last") != 0;
  if (begins) checkpoints_.begin(source_, replay->place());
  return replay;
}

// Starts a replay that holds before `event`, from a checkpoint if there is one.
std::unique_ptr<HeldReplay> Timeline::start(std::uint64_t event) {
  HelperTask task = {std::to_string(event)};
  if (!checkpoints_.has_begun()) return std::make_unique<HeldReplay>(source_, task);
  const std::uint64_t there = checkpoints_.holdable(event), last = checkpoints_.known().at("last").get<std::uint64_t>();
  if (there > last) return std::make_unique<HeldReplay>(source_, task);  // it reports the error
  task.from = checkpoints_.before(there);
  if (task.from == nullptr) return std::make_unique<HeldReplay>(source_, task);
  task.where = std::to_string(there);
  nlohmann::json known = checkpoints_.known();
  known["event"] = there;
  known["at_end"] = there == last;
  return std::make_unique<HeldReplay>(source_, task, std::move(known));
}

// Starts the replay that the next request will probably need: one that holds before the event.
void Timeline::prepare(std::uint64_t event) {
  for (auto it = spare_.begin(); it != spare_.end();) it = it->first == event ? std::next(it) : spare_.erase(it);
  if (spare_.empty()) spare_[event] = start(event);
}

Place Timeline::land(std::uint64_t event, bool quiet) {
  Place place;
  place.replay = hold(std::to_string(event_to_hold(event)), quiet);
  TracedProcess& process = place.process();
  process.passes_all_signals = true;
  const Stop stop = process.run({.lands = true});
  if (is_instant(stop)) place.lwp = stop.lwp;
  return place;
}

Place Timeline::seek(const Position& position, bool quiet) {
  Place place = land(position.progress.event, quiet);
  TracedProcess& process = place.process();
  std::uint64_t left = position.arrival;
  if (is_arrival(process, place.lwp, position)) left--;
  process.breakpoints = {position.pc};
  process.quick_loops = true;
  while (left > 0) {
    const Stop stop = process.run({}, false);
    check_alive(stop, position);
    place.lwp = stop.lwp;
    if (stop.reason != StopReason::kBreakpoint) continue;
    if (is_arrival(process, stop.lwp, position)) left--;
    REQUIRE(left == 0 || process.core().progress() <= position.progress, "there is no instant {} in this recording",
            name_of(position));
  }
  process.stop_all();
  process.show_loops();
  process.breakpoints.clear();
  for (std::uint64_t i = 0; i < position.steps; i++)
    check_alive(process.run({.thread = place.lwp, .step = true}, i + 1 == position.steps), position);
  process.passes_all_signals = false;
  place.position = position;
  prepare(event_to_hold(position.progress.event));
  return place;
}

Position Timeline::position_of(TracedProcess& process, pid_t lwp) {
  const user_regs_struct registers = process.registers(lwp);
  REQUIRE(!process.in_runtime(registers.rip), "the thread is in the runtime; `stepi` lets it return to the program");
  const auto thread = index_of(process, lwp);
  REQUIRE(thread.has_value(), "the runtime does not know this thread");
  Position position = {process.core().progress(), *thread, registers.rip, 0, 0};
  const std::uint64_t hash = hash_of_memory(process.pid());
  Place place = land(position.progress.event);
  TracedProcess& other = place.process();
  other.breakpoints = {position.pc};
  other.quick_loops = true;
  bool there = is_arrival(other, place.lwp, position);
  for (;;) {
    if (there) {
      position.arrival++;
      if (same_registers(other.registers(place.lwp), registers) && hash_of_memory(other.pid()) == hash) return position;
    }
    const Stop stop = other.run({}, false);
    check_alive(stop, position);
    place.lwp = stop.lwp;
    there = stop.reason == StopReason::kBreakpoint && is_arrival(other, stop.lwp, position);
    REQUIRE(other.core().progress() <= position.progress,
            "this process was changed from gdb, so its instants have no names");
  }
}

}  // namespace reweave

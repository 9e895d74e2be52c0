// Goes to instants of a recording, and backward from them. Each motion is a replay up to the instant; going backward
// replays from an earlier event.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "replayer/live/checkpoints.h"
#include "replayer/live/held_replay.h"
#include "replayer/live/position.h"
#include "replayer/live/trail.h"

namespace reweave {

// A process that is stopped at an instant.
struct Place {
  std::unique_ptr<HeldReplay> replay;
  pid_t lwp = 0;                     // the thread at that instant
  std::optional<Position> position;  // the instant's name, if known
  TracedProcess& process() const { return replay->process(); }
};

// Breakpoints and watched memory that stop a walk back.
struct Wanted {
  std::set<std::uint64_t> breakpoints;
  std::set<TracedProcess::Watch> watches;
  std::set<int> passed_signals;
  // Breakpoints count only where the first argument is a block of the C library's heap that contains this address.
  std::optional<std::uint64_t> in_block;
  bool operator==(const Wanted&) const = default;
};

// An instant found by a walk, and the stop there.
struct Found {
  Place place;
  Stop stop;
  bool at_begin = false;  // nothing was found, and `place` is the first instant
};

class Timeline {
 public:
  Timeline(ReplaySource source, CoreSymbols core) : source_(std::move(source)), core_(std::move(core)) {}

  // From now on replays start from checkpoints. A process that has targets of its own (supervisor/target/target.h) must
  // not call this: the checkpoints would be its children, and it would wait for them as parts of a target.
  void use_checkpoints();

  // Returns a replay that holds in the runtime before `where`, an event or "end".
  std::unique_ptr<HeldReplay> hold(const std::string& where, bool quiet);
  // Goes to the first instruction of the program at or after the event. Place::lwp is 0 if the process ended before.
  Place land(std::uint64_t event, bool quiet = true);
  // Goes to an instant. Throws BadInput if there is no such instant.
  Place seek(const Position& position, bool quiet = true);
  // The position of a thread. Throws BadInput if the thread is in the runtime.
  Position position_of(TracedProcess& process, pid_t lwp);
  // Goes to the last stop before `position`, whose `steps` must be 0.
  Found back(const Position& position, const Wanted& wanted);
  // Goes to the last instruction of a thread before `position`. `thread`: its index.
  Found step_back(const Position& position, std::uint32_t thread);

  const Checkpoints& checkpoints() const { return checkpoints_; }
  std::uint64_t first_event() const { return first_event_; }
  // Call this if a signal ends the process before this event, so that no replay can hold there.
  void note_end(std::uint64_t event) { last_event_ = std::min(last_event_, event - 1); }
  std::uint64_t last_event() const { return last_event_; }

 private:
  struct Hit {
    Stop stop;
    Position position;          // of a hit breakpoint
    std::uint64_t fault = 0;    // of a write to watched pages: its number
    std::uint64_t watched = 0;  // its number among the writes that changed watched memory
  };
  struct Scan {
    std::uint64_t start = 0;
    std::vector<Hit> hits;
  };
  Scan scan(std::uint64_t start, const Position& end, bool to_end, std::uint64_t limit, const Wanted& wanted);
  Found go_to_hit(const Scan& scan, const Hit& hit, const Wanted& wanted);
  Found go_to_write(const Scan& scan, const Hit& hit, const Wanted& wanted);
  std::optional<Position> last_step(std::uint64_t start, const Position& end, std::uint32_t thread);
  void step_until_own(TracedProcess& process, Stop stop, pid_t lwp, const Position& end, std::optional<Position>& last);
  void step_until_other(TracedProcess& process, Stop stop, pid_t lwp, const Position& end,
                        std::optional<Position>& last);
  std::optional<Position> last_step_of_loop(const Position& end);
  Found at_begin();
  void prepare(std::uint64_t event);
  std::unique_ptr<HeldReplay> start(std::uint64_t event);
  // The nearest event at which a replay can hold.
  std::uint64_t event_to_hold(std::uint64_t event) const {
    return std::max(std::min(event, last_event_), first_event_);
  }

  ReplaySource source_;
  CoreSymbols core_;
  std::uint64_t first_event_ = 1, last_event_ = ~0ull;
  bool uses_checkpoints_ = false;
  Checkpoints checkpoints_;
  // Replays started in advance for the next request, by event.
  std::map<std::uint64_t, std::unique_ptr<HeldReplay>> spare_;
  Trail trail_;  // the last walk by single steps
  // The last walk back. Its earlier hits answer the next request without another search.
  Scan last_scan_;
  Wanted last_wanted_;
  std::optional<Position> last_found_;
};

// The index of a kernel thread. If the process does not have the thread: nothing, or 0 for lwp_of.
std::optional<std::uint32_t> index_of(const TracedProcess& process, pid_t lwp);
pid_t lwp_of(const TracedProcess& process, std::uint32_t index);

}  // namespace reweave

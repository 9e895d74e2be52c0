// Walks through a program as each kind of thread does, and notes for each access to memory which locks are held, which
// other threads may run, and which barriers the thread has passed.
//
// A function is walked once for each state in which it is called. Locks are those that are held on all ways to the
// access, threads and barriers those of any way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "predictor/suspects/block_cycles.h"
#include "predictor/suspects/elements.h"
#include "predictor/suspects/points_to.h"

namespace reweave {

// A lock that is held. Several cells if it is not known which of them it is.
struct PossibleLock {
  std::vector<CellId> cells;  // sorted
  bool shared = false;
  // If it is an element of an array: the function that took it, and the node that is the index there.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> element = {};
  // If its address was read from a variable of the program: the symbol, and the offset in it.
  std::optional<std::pair<std::uint32_t, std::int64_t>> variable = {};

  auto operator<=>(const PossibleLock&) const = default;
  bool may_be(const std::vector<CellId>& others) const;
};

// A kind of thread: all threads that begin in one function, or the first thread.
struct ThreadKind {
  std::uint32_t function = kNoNode;  // kNoNode: constructors and main
  std::set<std::uint32_t> starts;    // indexes of PointsTo::starts that start it
  std::set<std::uint32_t> beside;    // kinds that may run beside it because others started both; itself among them
  std::set<std::uint32_t> made;      // kinds that its threads start, directly or not
  std::set<std::uint32_t> objects_of_its_own;  // what its threads receive, if each has its own
  std::set<std::uint32_t> handed_over;         // of those, what only the thread uses once it runs: of std::thread
  std::set<std::uint32_t> made_beside;         // blocks made in the loop that starts its threads
  std::set<const SummaryStep*> start_loops;    // the steps of that loop
};

struct WalkState {
  std::set<PossibleLock> locks;
  std::set<std::uint32_t> alive;     // kinds of threads, started by this thread, that may run
  std::set<std::uint32_t> barriers;  // places of the barriers that it may have passed last; 0: none
  bool in_once = false;
  std::set<std::uint32_t> fresh;    // objects that this function has made, and shown to nobody
  std::set<std::uint32_t> counted;  // objects that the thread has updated atomically, as counts of owners are
  std::uint32_t caller = 0;         // in a library's function: the place in the user's code that called it, plus 1

  auto operator<=>(const WalkState&) const = default;
};

// A call that releases a block is an access to all of it.
struct AccessFact {
  const SummaryStep* step;
  std::uint32_t function;
  bool is_source = false;  // it is the source of a copy
  std::uint32_t kind;      // of the thread
  std::uint32_t state;     // index of states()
};

class ThreadWalk {
 public:
  // Walks. Both must outlive this object.
  ThreadWalk(const ProgramSummary& program, const PointsTo& points_to);

  const std::vector<ThreadKind>& kinds() const { return kinds_; }
  const std::vector<WalkState>& states() const { return states_; }
  const std::vector<AccessFact>& facts() const { return facts_; }
  // The functions that threads of the kind may execute.
  const std::set<std::uint32_t>& functions_of(std::uint32_t kind) const { return functions_[kind]; }
  // Calls that were followed as if no lock were held, because the function was called in too many states.
  std::uint64_t merged_states() const { return merged_states_; }

 private:
  using StateId = std::uint32_t;
  // Facts about the blocks of a function.
  struct Flow {
    BlockCycles cycles;
    struct Join {
      const SummaryStep* step;
      std::set<std::pair<std::uint32_t, std::uint32_t>>
          exits;  // edges between blocks that leave its loop or pass it by
    };
    std::vector<Join> joins;  // those in loops
  };
  struct Walked {
    StateId end = 0;
    bool is_open = false;
  };

  void find_kinds();
  std::uint32_t kind_of(std::uint32_t function);
  bool is_library_function(std::uint32_t function) const;
  const Flow& flow_of(std::uint32_t function);
  StateId intern(WalkState state);
  StateId walk(std::uint32_t function, StateId from);
  void step_through(std::uint32_t function, const SummaryStep& step, WalkState& state, bool notes);
  void call(std::uint32_t function, const SummaryStep& step, WalkState& state);
  void start(const SummaryStep& step, WalkState& state);
  void join(std::uint32_t function, const SummaryStep& step, WalkState& state) const;
  void lock(std::uint32_t function, const Operand& operand, bool shared, WalkState& state) const;
  void unlock(std::uint32_t function, const Operand& operand, WalkState& state) const;
  void note_own_objects(std::uint32_t start);
  void show(std::uint32_t function, const Operand& value, WalkState& state) const;
  bool is_of_fresh(std::uint32_t function, const SummaryStep& step, const WalkState& state) const;
  void close_over_starts();

  const ProgramSummary& program_;
  const PointsTo& points_to_;
  const Elements elements_;
  std::vector<ThreadKind> kinds_;
  std::map<std::uint32_t, std::uint32_t> kind_of_function_;
  std::map<const SummaryStep*, std::uint32_t> start_of_step_;
  std::map<std::uint32_t, Flow> flows_;
  std::vector<WalkState> states_;
  std::map<WalkState, StateId> state_ids_;
  std::uint32_t walking_ = 0;  // the kind
  std::map<std::pair<std::uint32_t, StateId>, Walked> walked_;
  std::map<std::uint32_t, std::uint32_t> states_of_function_;  // of the kind that is walked
  std::vector<AccessFact> facts_;
  std::vector<std::set<std::uint32_t>> functions_;  // by kind
  std::uint64_t merged_states_ = 0;
};

}  // namespace reweave

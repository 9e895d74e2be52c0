// Turns a stream of TraceEvents into a TraceModel.
//
// add() converts addresses to granules (granule_map.h), and keeps only the outermost acquisition and release of
// recursive locking. It splits a condition wait into a release and a re-acquisition. It turns calls into call stacks,
// and synchronisation into must-order edges (sync_edges.h).
//
// finish() cuts granules into variables such that every access covers whole variables. So two accesses conflict exactly
// if they share a variable and one writes. Data touched by only one thread is dropped, because it cannot affect a
// reordering.
//
// The release of a heap block counts as a write to each variable of the block that was used.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "predictor/model/granule_map.h"
#include "predictor/model/sync_edges.h"
#include "predictor/model/trace_model.h"

namespace reweave {

class TraceBuilder {
 public:
  struct Options {
    bool collapse = true;  // drop events that cannot matter; off only to show whole traces
  };

  TraceBuilder() = default;
  explicit TraceBuilder(Options options) : options_(options) {}

  // Adds the next stack that kStack events can name: stack `parent` with a call at `site`. Call it before the events,
  // and after adding the enclosing call (formats/trace/trace_names.h).
  void add_call(std::uint32_t parent, std::uint32_t site) { stacks_.push_back(called(stacks_.at(parent), site)); }
  // Sets the process of a thread; the default is the first process. Call it before finish().
  void add_thread(ThreadId thread, std::uint32_t process) { processes_[thread] = process; }
  // Events in trace order. `site` is any stable number for the code location.
  void add(const TraceEvent& event, std::uint32_t site);
  // False when no more events can be numbered.
  bool has_room() const { return raw_.size() < kNone - kMaxRawPerEvent; }

  // Call once, after the last event.
  TraceModel finish();

 private:
  struct RawEvent {
    std::uint32_t object;
    std::uint32_t site;
    std::uint32_t stack;
    std::uint32_t source;  // number of the trace event
    ThreadId thread;
    Op op;
    std::uint8_t flags;
    std::uint8_t low;   // first byte in the granule
    std::uint8_t high;  // one past the last
    bool valued;        // values_ has an entry for it
  };
  struct Granule {
    std::uint64_t number;
    std::uint32_t block;
    ThreadId first_thread;
    std::uint8_t cuts = 0;  // bit b: a variable starts at byte b
    bool shared = false;
    bool written = false;
    bool carries = false;  // a kCarries write stored here
  };
  struct Depth {
    std::uint32_t count = 0;
    bool shared = false;
  };

  void add_access(const TraceEvent& event, std::uint32_t site, Op op, std::uint8_t flags);
  void touch(std::uint32_t granule, ThreadId thread, bool write, std::uint8_t low, std::uint8_t high);
  void add_sync(const TraceEvent& event, std::uint32_t site);
  void add_heap(const TraceEvent& event, std::uint32_t site);
  void release_block(std::uint64_t address, const TraceEvent& event, std::uint32_t site);
  void lock(const TraceEvent& event, std::uint32_t site, std::uint64_t address, bool shared);
  void unlock(const TraceEvent& event, std::uint32_t site, std::uint64_t address);
  void call(const TraceEvent& event, std::uint32_t site);
  void set_stack(const TraceEvent& event);
  std::uint32_t called(std::uint32_t from, std::uint32_t site);
  std::uint32_t stack_at(const TraceEvent& event) const;
  void forget(std::uint64_t address, std::uint64_t bytes);
  std::uint32_t lock_id(std::uint64_t address, ThreadId user);
  std::uint32_t condition_id(std::uint64_t address);
  std::uint32_t end_id(ThreadId thread);
  std::uint32_t block_at(std::uint64_t address) const;
  std::uint32_t push(ThreadId thread, std::uint32_t site, Op op, std::uint32_t object);
  void push_requests();

  // finish() in steps.
  void name_variables(TraceModel& model);
  void emit(TraceModel& model);
  void emit_access(TraceModel& model, const RawEvent& raw, bool joined);
  void note_value(TraceModel& model, const RawEvent& raw, std::uint32_t variable, std::uint64_t value) const;
  void append(TraceModel& model, const RawEvent& raw, Op op, std::uint32_t object, std::uint8_t flags);
  void emit_lock(TraceModel& model, const RawEvent& raw);
  void emit_edges(TraceModel& model);
  static void mark_updates(TraceModel& model);
  static bool is_deciding_atomic(const RawEvent& raw) {
    return (raw.op == Op::kRead || raw.op == Op::kUpdate) && (raw.flags & (kAtomic | kDecidesNothing)) == kAtomic;
  }
  // True if the granule's accesses go into the model. Data of one thread that carries the value of a read that decides
  // nothing is kept, because it may decide something later.
  bool keeps(const Granule& granule) const {
    return !options_.collapse || (granule.shared && granule.written) || granule.carries;
  }

  // The largest number of raw events for one event; longer accesses are truncated.
  static constexpr std::size_t kMaxRawPerEvent = 1u << 24;

  Options options_;
  std::deque<RawEvent> raw_;
  std::deque<std::uint64_t> values_;  // the values before the valued raw events
  std::uint32_t added_ = 0;           // trace events added
  std::uint32_t source_ = 0;          // number of the event being added
  GranuleMap granule_map_;
  std::vector<Granule> granules_;
  SyncEdges sync_;
  std::vector<MustEdge> start_edges_;  // fork: target = thread; join: source = thread
  std::vector<MustEdge> join_edges_;

  std::map<std::uint64_t, std::uint32_t> live_blocks_;      // by address
  std::map<std::uint64_t, std::uint32_t> live_locks_;       // by address
  std::map<std::uint64_t, std::uint32_t> live_conditions_;  // by address
  std::map<std::uint64_t, std::uint32_t> freed_blocks_;     // by address, until the memory is used again
  std::vector<Signal> signals_;
  std::unordered_map<ThreadId, std::uint32_t> end_signals_;
  std::unordered_map<ThreadId, std::uint32_t> processes_;
  std::vector<HeapBlock> blocks_;
  std::unordered_map<std::uint64_t, std::uint32_t> allocations_;  // by (stack, site)
  std::vector<ObjectName> locks_;
  std::vector<ThreadId> lock_first_user_;
  std::vector<bool> lock_shared_use_;
  std::unordered_map<std::uint64_t, Depth> depth_;  // by (lock, thread)
  struct Waiting {
    std::uint64_t mutex = 0;
    std::uint32_t began = 0;  // raw index of its kWait
  };
  std::unordered_map<ThreadId, Waiting> waiting_;
  std::unordered_map<ThreadId, RawEvent> pending_request_;
  std::unordered_map<ThreadId, std::uint32_t> new_stack_;  // by creator: the new thread's stack block, until it starts

  std::vector<CallNode> calls_{{kNone, 0}};
  std::unordered_map<std::uint64_t, std::uint32_t> call_children_;  // by (node, site)
  std::vector<std::uint32_t> stack_of_;                             // by thread: the functions entered
  std::vector<std::uint32_t> stacks_{0};                            // by the trace's own numbers
  std::vector<std::uint32_t> unwound_;                              // by thread: the stack of its last kStack, or 0
  std::uint32_t stack_ = 0;                                         // of the event being added

  bool has_branches_ = false;

  // State of finish().
  std::vector<std::uint32_t> first_variable_;  // by granule
  std::vector<EventIndex> final_index_;        // by raw event; kNone if dropped
  std::vector<EventIndex> last_write_;         // by variable
  std::vector<std::uint32_t> held_now_;        // by thread
  std::vector<bool> reads_pending_;            // by thread: a read since its last branch
};

}  // namespace reweave

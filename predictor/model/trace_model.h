// The whole trace in memory, as a structure of arrays, in the form that the analyses need: variables instead of
// addresses, reads that know their writer, lock operations that know their partner.
//
// Built by TraceBuilder (trace_builder.h) and immutable afterwards, so it may be read from several threads.
//
// An event has two names: its EventIndex is its place in the trace; (thread, position) is its place in its thread.
// Within one thread both grow together. Read next: feasible_set.h for the definition of a correct reordering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/event.h"

namespace reweave {

using EventIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffu;

// The meaning of an event to the predictor. Other events of a trace (calls, fences, system calls) are not in the model.
enum class Op : std::uint8_t {
  kRead,
  kWrite,
  kUpdate,   // atomic read-modify-write: a read and a write in one
  kAcquire,  // exclusive
  kRelease,
  kAcquireShared,
  kReleaseShared,
  kBranch,
  kFork,  // object = thread started
  kJoin,  // object = thread joined
  kBegin,
  kEnd,
  kSync,     // barrier or semaphore operation, or end of a wait: only its must-order edges count
  kRequest,  // requested lock `object` and never got it
  kWait,     // about to wait for signal `object`, still holding its locks
  kNotify,   // wakes threads that wait for signal `object`
  kFree,     // releases heap block `object`; its variables are "written" as well (kFrees)
  kExit,     // ends the process: its other threads execute no more events
};

// Bits of TraceModel::flags.
inline constexpr std::uint8_t kSameInstruction = 1;  // continues the instruction of the thread's previous event
inline constexpr std::uint8_t kAtomic = 2;           // synchronising access: cannot race, its writer is always kept
inline constexpr std::uint8_t kFrees = 4;            // this "write" is the release of the heap block
inline constexpr std::uint8_t kFeedsWrite = 8;       // read whose thread soon writes the variable: x = f(x)
inline constexpr std::uint8_t kNull = 16;  // writes null; or reads a pointer and follows it without a null check
inline constexpr std::uint8_t kDecidesNothing = 32;  // read: affects only the data of the thread's kCarries writes; of
                                                     // a kUpdate: affects only what it writes itself
inline constexpr std::uint8_t kCarries = 64;  // write: its value may depend on a kDecidesNothing read of its thread

// The reads that decide what a thread does next. kUpdatesCarryData assumes that reads marked kFeedsWrite only carry
// data, which a run of the program must confirm. Without this assumption no lost update can be found in a trace without
// branch events, because the losing thread would have to read another value.
enum class ReadRule : std::uint8_t { kAllDecide, kUpdatesCarryData };

// If `target` happens, `source` happened before it. If `before_source` is given, that happened before `source` (a
// notification wakes only threads that already wait).
struct MustEdge {
  EventIndex target;
  EventIndex source;
  EventIndex before_source = kNone;
};

// A variable or lock: bytes in memory, named by the heap block they are part of, if any.
struct ObjectName {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t block = kNone;  // index into TraceModel::blocks
};

// A heap block, named as the nth block allocated at this place.
struct HeapBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  std::uint32_t stack = 0;  // call stack of the allocation
  std::uint32_t nth = 0;    // blocks allocated there before
  bool is_stack = false;    // not a heap block, but the stack of thread `nth`
};

// An object that threads wait for: a condition, or the end of a thread.
struct Signal {
  ObjectName name;               // of a condition
  std::uint32_t thread = kNone;  // the thread whose end it is; kNone for a condition
};

// A node of a tree whose paths to the root are call stacks; node 0 is the empty stack.
struct CallNode {
  std::uint32_t parent;
  std::uint32_t site;  // of the call: its return address
};

// A node of a tree whose paths to the root are sets of held locks; node 0 is the empty set.
struct HeldNode {
  std::uint32_t parent;
  EventIndex acquire;
};

// Rows of event indices in one array.
class EventTable {
 public:
  EventTable() = default;
  // `row_sizes[i]` events in row i; fill with push_back(row, event).
  explicit EventTable(const std::vector<std::uint32_t>& row_sizes);
  void push_back(std::uint32_t row, EventIndex event) { events_[fill_[row]++] = event; }
  // Call after the last push_back.
  void freeze() { fill_ = {}; }
  std::span<const EventIndex> operator[](std::uint32_t row) const {
    return {events_.data() + start_[row], events_.data() + start_[row + 1]};
  }
  std::uint32_t rows() const { return start_.empty() ? 0 : static_cast<std::uint32_t>(start_.size() - 1); }

 private:
  std::vector<std::uint32_t> start_;
  std::vector<std::uint32_t> fill_;
  std::vector<EventIndex> events_;
};

// A row that is sorted by thread and position, and knows where each thread's part of it begins.
class EventRow : public std::span<const EventIndex> {
 public:
  struct Part {
    ThreadId thread;
    std::uint32_t begin;  // in the row
  };

  EventRow(std::span<const EventIndex> events, std::span<const Part> parts) : span(events), parts_(parts) {}
  std::span<const Part> parts() const { return parts_; }
  // The events of one thread.
  std::span<const EventIndex> of(std::uint32_t thread) const;

 private:
  std::span<const Part> parts_;
};

// A table of EventRows.
class ThreadedTable : private EventTable {
 public:
  ThreadedTable() = default;
  using EventTable::EventTable;
  using EventTable::push_back;
  using EventTable::rows;
  // Call after the last push_back.
  void freeze(const std::vector<ThreadId>& thread_of);
  EventRow operator[](std::uint32_t row) const {
    return {EventTable::operator[](row), {parts_.data() + first_part_[row], parts_.data() + first_part_[row + 1]}};
  }

 private:
  std::vector<EventRow::Part> parts_;
  std::vector<std::uint32_t> first_part_;  // by row
};

class TraceModel {
 public:
  // --- per event ---
  std::vector<Op> op;
  std::vector<std::uint8_t> flags;
  std::vector<ThreadId> thread;
  std::vector<std::uint32_t> object;  // variable, lock or thread, by op
  std::vector<std::uint32_t> site;
  std::vector<std::uint32_t> link;      // reads: the write read (kNone = initial value); locks: the partner
  std::vector<std::uint32_t> position;  // in its thread
  std::vector<std::uint32_t> stack;     // index into calls
  std::vector<std::uint32_t> held;      // locks held before the event, index into held_nodes
  std::vector<std::uint32_t> source;    // number of the trace event that it comes from
  // Writes: a hash of the value stored, never 0; 0: not known. Equal values have equal hashes, others most likely not.
  // Shorter than the trace if nothing more is known.
  std::vector<std::uint32_t> stored;

  // --- per trace ---
  std::vector<std::vector<EventIndex>> threads;      // events of each thread
  std::vector<std::vector<std::uint32_t>> branches;  // positions of each thread's branches
  std::vector<std::vector<MustEdge>> edges;          // by target's thread, in its order
  std::vector<ObjectName> variables, locks;
  std::vector<std::uint32_t> initial;  // by variable: hash of its initial value, as in `stored`; empty: none is known
  std::vector<Signal> signals;
  std::vector<HeapBlock> blocks;
  std::vector<CallNode> calls;
  std::vector<HeldNode> held_nodes;
  std::vector<std::uint32_t> held_at_end;  // by thread: locks held after its last event
  std::vector<std::uint32_t> process_of;   // by thread
  bool has_branches = false;

  // --- indices, filled by build_indices(): rows sorted by (thread, position) ---
  ThreadedTable writes_of;  // by variable; updates included
  ThreadedTable reads_of;   // by variable; updates included
  EventTable readers_of;    // by write event
  // By thread: positions of the kCarries writes that are seen by a read which may decide.
  std::vector<std::vector<std::uint32_t>> carrying;
  bool has_data_reads = false;  // some plain read decides nothing
  // Blind updates (see is_blind()) that pass a variable's value on to one another form a chain. By event: the chain of
  // a blind update. Empty if there are none.
  std::vector<std::uint32_t> chain;
  std::vector<std::vector<EventIndex>> chains;  // by chain: its updates, in the order of the trace
  // By thread: the other reads that get their value from a blind update, in the order of the trace.
  std::vector<std::vector<EventIndex>> chain_reads;
  ThreadedTable locking_of;  // by lock: its acquires, requests included
  ThreadedTable waking_of;   // by signal: events that wake its waiters; for the end of a thread its last event

  void build_indices();
  // True if `read` can never decide anything under `rule`.
  bool carries_data(EventIndex read, ReadRule rule) const {
    return decides_nothing(read) || (rule == ReadRule::kUpdatesCarryData && (flags[read] & kFeedsWrite) != 0);
  }
  // True if `read` can never decide anything. Only kCarries writes of its thread depend on its value; on that of a
  // blind update, only what it writes itself.
  bool decides_nothing(EventIndex read) const { return (flags[read] & kDecidesNothing) != 0; }
  bool carries(EventIndex write) const { return (flags[write] & kCarries) != 0; }

  // True for an atomic update, such as that of a counter, of which nobody looks at the old value.
  bool is_blind(EventIndex e) const { return op[e] == Op::kUpdate && decides_nothing(e); }
  // True for an atomic read that decides as soon as it is executed.
  bool decides_at_once(EventIndex e) const { return is_read(e) && is_atomic(e) && !is_blind(e); }

  // The hash of the value that `write` stores in `variable`; 0: not known. kNone: the variable's initial value.
  std::uint32_t value_of(EventIndex write, std::uint32_t variable) const {
    if (write == kNone) return variable < initial.size() ? initial[variable] : 0;
    return write < stored.size() ? stored[write] : 0;
  }
  // True if `read` gets the value that it got in the trace where the last write of its variable is `write`.
  bool reads_alike(EventIndex read, EventIndex write) const {
    if (write == link[read]) return true;
    const std::uint32_t value = value_of(write, object[read]);
    return value != 0 && value == value_of(link[read], object[read]);
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(op.size()); }
  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(threads.size()); }
  std::uint32_t thread_size(std::uint32_t t) const { return static_cast<std::uint32_t>(threads[t].size()); }
  EventIndex at(std::uint32_t t, std::uint32_t pos) const { return threads[t][pos]; }

  bool is_read(EventIndex e) const { return op[e] == Op::kRead || op[e] == Op::kUpdate; }
  bool is_write(EventIndex e) const { return op[e] == Op::kWrite || op[e] == Op::kUpdate; }
  bool is_access(EventIndex e) const { return op[e] <= Op::kUpdate; }
  bool is_acquire(EventIndex e) const { return op[e] == Op::kAcquire || op[e] == Op::kAcquireShared; }
  bool is_release(EventIndex e) const { return op[e] == Op::kRelease || op[e] == Op::kReleaseShared; }
  bool is_shared(EventIndex e) const { return op[e] == Op::kAcquireShared || op[e] == Op::kReleaseShared; }
  bool is_atomic(EventIndex e) const { return (flags[e] & kAtomic) != 0; }

  // The address of the variable, lock, condition or heap block that `e` operates on; 0 for other objects.
  std::uint64_t address_of(EventIndex e) const;

  // Locks held by thread `t` after its first `length` events.
  std::uint32_t held_after(std::uint32_t t, std::uint32_t length) const {
    return length < thread_size(t) ? held[at(t, length)] : held_at_end[t];
  }

  // Once thread `t` has executed `length` events, its reads at positions below the result have decided what it did, so
  // each must read the same write as in the trace. In a trace without branch events, every instruction counts as
  // followed by a branch.
  std::uint32_t decided(std::uint32_t t, std::uint32_t length) const;

  // First position at which the instruction of event (t, pos) starts.
  std::uint32_t instruction_start(std::uint32_t t, std::uint32_t pos) const;

  // The events of `row` that belong to thread `t`, positions [from, to).
  std::span<const EventIndex> slice(const EventRow& row, std::uint32_t t, std::uint32_t from, std::uint32_t to) const;
  // Last event of `row` in thread `t` at a position below `end`, or kNone.
  EventIndex last_before(const EventRow& row, std::uint32_t t, std::uint32_t end) const;
  // First event of `row` in thread `t` at a position of at least `from` and below `end`, or kNone.
  EventIndex first_from(const EventRow& row, std::uint32_t t, std::uint32_t from, std::uint32_t end) const;

  // The must-order edges into positions [from, to) of thread `t`.
  std::span<const MustEdge> edges_into(std::uint32_t t, std::uint32_t from, std::uint32_t to) const;

 private:
  void build_chains();
  // An event of thread `t` is at a position below `pos` exactly if its index is below the result.
  EventIndex bound(std::uint32_t t, std::uint32_t pos) const { return pos < thread_size(t) ? threads[t][pos] : kNone; }
};

}  // namespace reweave

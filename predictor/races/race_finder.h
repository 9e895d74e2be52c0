// Finds the races that ThreadSanitizer would have reported for a traced run. Uses its happens-before order, and gives
// the stacks and locks of both accesses.
//
// The order comes from locks (readers do not order each other), starts and joins of threads, barriers, semaphores, and
// atomics by their memory order; neither relaxed atomics nor fences order anything. It also comes from transfers
// through descriptors (all files count as one object) and from annotations of the program. A notification establishes
// no order except through its mutex. Accesses ordered only by other means of the kernel are reported as races, as
// ThreadSanitizer does. Forked memory is an exception: it belongs to each process alone.
//
// Sound and complete for the recorded order, with two exceptions that ThreadSanitizer has as well: only the first 64
// KiB of a released block are examined, and reads of a variable that was in a race are no longer examined.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "formats/trace/process_addresses.h"
#include "formats/trace/trace_reader.h"
#include "predictor/detectors/handed_clock.h"
#include "predictor/races/access_cells.h"
#include "predictor/races/held_locks.h"
#include "predictor/races/lock_order.h"
#include "predictor/races/race_finding.h"

namespace reweave {

class RaceFinder {
 public:
  // `ignored(site)`: accesses there are never reported.
  RaceFinder(const TraceReader& trace, std::function<bool(std::uint32_t site)> ignored);

  void take(const TraceChunk& chunk);
  // Call once, after the last event.
  RaceFindings finish();

 private:
  // Handles one kind of event.
  using Handler = void (RaceFinder::*)(const TraceEvent& event);
  static const Handler kHandlers[];

  struct Access {
    NamedPlace where;
    std::uint32_t held;
  };
  struct KnownAccess {
    NamedPlace where;
    std::uint32_t held = ~0u, access = 0;
  };
  struct Thread : ThreadClock {
    using ThreadClock::ThreadClock;
    StackId stack = 0;
    std::uint32_t held = 0;                                   // of locks_held_
    std::uint64_t requested = 0;                              // lock that it is about to acquire; 0: none
    std::uint64_t waits_with = 0;                             // mutex to reacquire
    std::uint32_t no_reads = 0, no_writes = 0, no_order = 0;  // nested
    std::vector<KnownAccess> known;                           // accesses, by a hash of the site
    std::uint64_t stack_for_new = 0;  // address of the stack of the thread that it starts next; 0: unknown
    NamedPlace creates;               // where it creates the thread that it starts next
    bool creates_detached = false, has_created = false;
  };
  struct Lock {
    std::uint32_t id;
    HandedClock exclusive, shared;
    std::map<ThreadId, std::uint32_t> depth;  // by holding thread
    NamedPlace taken;                         // where it was last taken
    bool is_broken = false;                   // its misuse was reported
  };
  struct Process {
    bool is_copy = false;       // forked: holds locks that others took
    std::uint32_t space = ~0u;  // address space of its code
    bool executes = false;      // it has just called execve
    std::uint32_t threads = 0;
  };

  void take(const TraceEvent& event, std::uint32_t site);
  void look_for_exec(const TraceEvent& event, std::uint32_t site);
  void start_over(std::uint16_t process);
  void grow(ThreadId thread);

  void on_read(const TraceEvent& event);
  void on_write(const TraceEvent& event);
  void on_atomic_load(const TraceEvent& event);
  void on_atomic_store(const TraceEvent& event);
  void on_atomic_update(const TraceEvent& event);
  void on_lock_request(const TraceEvent& event);
  void on_lock(const TraceEvent& event);
  void on_unlock(const TraceEvent& event);
  void on_wait_begin(const TraceEvent& event);
  void on_wait_end(const TraceEvent& event);
  void on_release(const TraceEvent& event);
  void on_acquire(const TraceEvent& event);
  void on_send(const TraceEvent& event);
  void on_receive(const TraceEvent& event);
  void on_fork(const TraceEvent& event);
  void on_join(const TraceEvent& event);
  void on_end(const TraceEvent& event);
  void on_alloc(const TraceEvent& event);
  void on_free(const TraceEvent& event);
  void on_call(const TraceEvent& event);
  void on_return(const TraceEvent& event);
  void on_syscall(const TraceEvent& event);
  void on_hint(const TraceEvent& event);

  CodePlace here(ThreadId thread) const { return {site_, threads_[thread].stack}; }
  std::uint32_t access_number(ThreadId thread, TopFunction top);
  AccessNote note_of(ThreadId thread, bool write, bool atomic, TopFunction top);
  void access(const TraceEvent& event, bool write, bool atomic);
  void visit(AccessCell& cell, std::uint64_t base, const AccessNote& now);
  void report_race(std::uint64_t base, const AccessNote& now, const AccessNote& before, RaceKind kind);
  RacingAccess told(std::uint64_t base, const AccessNote& note) const;
  void report_misuse(RaceKind kind, const TraceEvent& event, Lock& lock, std::vector<NamedPlace> stacks);
  bool is_new(RaceKind kind, const NamedPlace& a, const NamedPlace& b);
  void detach(std::uint64_t handle);
  void find_leaks(std::uint16_t process);
  std::optional<BlockOrigin> block_at(std::uint64_t address) const;

  void learn(ThreadId thread, const HandedClock& handed);
  void publish(ThreadId thread, HandedClock& to);
  void replace(ThreadId thread, HandedClock& with);
  Lock& lock_at(ThreadId thread, std::uint64_t address, TopFunction top);
  void take_lock(const TraceEvent& event, std::uint64_t address, bool shared);
  void give_lock(const TraceEvent& event, std::uint64_t address);
  void end_lock(const TraceEvent& event);

  Process& process(std::uint16_t number) {
    if (number >= processes_.size()) processes_.resize(number + std::size_t{1});
    return processes_[number];
  }

  const TraceReader& trace_;
  std::function<bool(std::uint32_t)> ignored_;
  ProcessAddresses addresses_;
  RaceFindings found_;
  std::uint64_t event_ = 0;
  std::uint32_t site_ = 0;
  std::vector<signed char> is_ignored_;  // by site; -1: not asked yet
  std::vector<Thread> threads_;
  std::vector<Process> processes_;
  AccessCells cells_;
  std::vector<Access> accesses_;
  LockSets locks_held_;
  LockOrder order_;
  std::map<std::uint64_t, Lock> locks_;
  std::map<std::uint64_t, HandedClock> objects_;  // atomics, barriers, semaphores, objects behind descriptors
  HandedClock files_;
  std::map<std::uint64_t, BlockOrigin> blocks_;
  std::map<std::uint64_t, std::uint64_t> benign_;  // bytes by address
  std::unordered_set<std::string> told_;
};

}  // namespace reweave

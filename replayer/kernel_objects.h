// What a traced run gave to kernel objects and got from them: tells which descriptors of which process are one pipe,
// socket or event counter, through dup, fork and descriptors passed in messages.
//
// Where that cannot be told, more is taken as one object than is: all sockets that are no pair from socketpair(2), all
// file locks, all message queues and System V semaphores, all signals and ends of tasks. A receipt is then ordered
// after more than it must be, which can hide a finding but not make a wrong one. Descriptors of other kinds (files,
// terminals, FIFOs opened by name) are no objects: what is handed over through them alone is not ordered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "formats/event.h"
#include "formats/wire.h"

namespace reweave {

class KernelObjects {
 public:
  // Takes note of a record of the traced run's stream: tasks that start, exec.
  void note(const wire::RecordHeader* record);
  // What the step, an event of kind wire::kKernelStepKind, means for the trace: kSend and kReceive events.
  std::vector<TraceEvent> take(const TraceEvent& step);

 private:
  using Object = std::uint64_t;
  // An open file. Several objects where it is not known which of them it is.
  struct End {
    std::set<Object> in, out;
  };
  using Descriptors = std::map<std::uint64_t, End>;
  // What was passed through a socket's direction, in order.
  using Passed = std::map<Object, std::deque<std::optional<End>>>;

  Descriptors& of(ThreadId thread) { return tables_[process_of_[thread]]; }
  Object fresh() { return next_++; }
  Object place(std::uint64_t key);
  void make(const TraceEvent& step);
  void make_pair(Descriptors& table, const TraceEvent& step);
  void close(const TraceEvent& step, std::vector<TraceEvent>& result);
  void pass(const TraceEvent& step);
  void receive_passed(const TraceEvent& step);
  static void tell(const TraceEvent& step, EventKind kind, const std::set<Object>& objects,
                   std::vector<TraceEvent>& result);

  std::map<ThreadId, std::uint16_t> process_of_;
  std::map<std::uint16_t, Descriptors> tables_;  // by process
  std::map<std::uint64_t, Object> places_;       // by KernelPlace or futex
  Passed passed_;
  bool files_locked_ = false;
  Object next_ = kAnyObject + 1;
  const Object network_ = fresh();
};

}  // namespace reweave

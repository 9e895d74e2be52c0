// Turns the kernel steps of a traced run into kSend and kReceive events on kernel objects. Tracks which descriptors of
// which process are the same pipe, socket or event counter, through dup, fork and descriptors passed in messages.
//
// Where that is unknown, several objects are merged into one: all data received by accepted sockets of one kind, and
// all received by the other sockets of that kind; all file locks; all signals and ends of tasks. A receive is then
// ordered after more sends than necessary, which can hide a finding but cannot produce a wrong one. Descriptors of
// other kinds (files, terminals, FIFOs older than the run) are not objects. Data passed through them is not ordered,
// but hints report that files are used (Hint in formats/event.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "formats/event.h"
#include "formats/wire.h"

namespace reweave {

class KernelObjects {
 public:
  // Notes tasks that start. Call it for each record of the traced run.
  void note(const wire::RecordHeader* record);
  // Turns a step, an event of kind wire::kKernelStepKind, into events of the trace: kSend, kReceive and hints.
  std::vector<TraceEvent> take(const TraceEvent& step);

 private:
  using Object = std::uint64_t;
  struct Watched;
  // An open file: the objects that it receives from and sends to. Each set has several objects if it is unknown which
  // of them is the right one.
  struct End {
    std::set<Object> in, out;
    std::shared_ptr<Watched> watched = {};  // what an epoll descriptor watches; null for others
    bool is_file = false;                   // opened by name, and not a FIFO
  };
  struct Watch {
    std::uint64_t data;
    End end;
  };
  struct Watched {
    std::map<std::uint64_t, Watch> by_descriptor;
  };
  using Descriptors = std::map<std::uint64_t, End>;
  // The descriptors passed through a direction of a socket, in order.
  using Passed = std::map<Object, std::deque<std::optional<End>>>;

  Descriptors& of(ThreadId thread) { return tables_[process_of_[thread]]; }
  Object fresh() { return next_++; }
  Object place(std::uint64_t kind, std::uint64_t which);
  Object place(wire::KernelPlace kind) { return place(static_cast<std::uint64_t>(kind), 0); }
  // Each handles some kinds of steps: those that send or receive, those that create descriptors, those that change
  // existing ones.
  bool tell_of(const TraceEvent& step, std::vector<TraceEvent>& result);
  bool make(const TraceEvent& step);
  void change(const TraceEvent& step, std::vector<TraceEvent>& result);
  void make_socket(End& end, std::uint64_t kind);
  void open(const TraceEvent& step);
  void listen(const TraceEvent& step, std::vector<TraceEvent>& result);
  void copy(const TraceEvent& step);
  void close(const TraceEvent& step, std::vector<TraceEvent>& result);
  void watch(const TraceEvent& step, bool starts);
  void pass(const TraceEvent& step);
  void receive_passed(const TraceEvent& step);
  static void add_incoming(const End& end, const std::uint64_t* data, int depth, std::set<Object>& objects);
  static void tell(const TraceEvent& step, EventKind kind, const std::set<Object>& objects,
                   std::vector<TraceEvent>& result, std::uint8_t aux = 0);

  std::map<ThreadId, std::uint16_t> process_of_;
  std::map<std::uint16_t, Descriptors> tables_;                       // by process
  std::map<std::pair<std::uint64_t, std::uint64_t>, Object> places_;  // by KernelPlace and an id within it
  std::map<std::uint64_t, std::pair<Object, Object>> sockets_;        // by kind: data to accepted sockets, to others
  std::set<std::uint64_t> fifos_;                                     // created in this run, by the hash of the name
  std::set<Object> shared_directions_;  // objects of sockets_; the descriptor received may be any of those passed
  Passed passed_;
  bool files_locked_ = false;
  Object next_ = kFirstKernelObject + 1;
};

}  // namespace reweave

// A multithreaded program as lists of operations. Runs under the real policies without a process; unit tests of the
// search compare it with exhaustive enumeration.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "explorer/run/run.h"

namespace reweave::model {

struct Op {
  OpKind kind = OpKind::kAccess;
  std::uint64_t object = 0;
  bool write = false;
  std::uint64_t pc = 0;  // 0: each operation has one of its own
};
inline Op read(std::uint64_t object) { return {OpKind::kAccess, object, false}; }
inline Op write(std::uint64_t object) { return {OpKind::kAccess, object, true}; }
inline Op lock(std::uint64_t object) { return {OpKind::kLock, object, true}; }
inline Op unlock(std::uint64_t object) { return {OpKind::kUnlock, object, true}; }
inline Op at(std::uint64_t pc, Op op) {
  op.pc = pc;
  return op;
}

// An executed operation: its thread, and its number in that thread.
struct Executed {
  ThreadId thread;
  std::size_t index;
  auto operator<=>(const Executed&) const = default;
};
using History = std::vector<Executed>;

// All threads can run from the start. A lock that is held blocks; locks are not recursive.
struct Program {
  std::vector<std::vector<Op>> threads;
  std::function<bool(const History&)> fails = [](const History&) { return false; };

  RunResult run(const RunRequest& request, History* history = nullptr) const;
  // Returns all histories that schedules can give.
  std::vector<History> all_histories() const;
  // Returns the class of a history. Histories with the same happens-before order have the same class.
  std::vector<std::pair<Executed, Executed>> class_of(const History& history) const;
  const Op& op(const Executed& e) const { return threads[e.thread][e.index]; }
};

}  // namespace reweave::model

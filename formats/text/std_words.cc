#include "formats/text/std_words.h"

#include <algorithm>
#include <iterator>

namespace reweave {
namespace {

constexpr std::uint8_t kShared = static_cast<std::uint8_t>(LockMode::kShared);
constexpr StdWord kWords[] = {
    {"r", EventKind::kRead, 0, Operand::kVariable, true},
    {"w", EventKind::kWrite, 0, Operand::kVariable, true},
    {"acq", EventKind::kLock, 0, Operand::kLock, true},
    {"rel", EventKind::kUnlock, 0, Operand::kLock, true},
    {"br", EventKind::kBranch, 0, Operand::kNothing, false},
    {"call", EventKind::kCall, 0, Operand::kNothing, false},
    {"ret", EventKind::kReturn, 0, Operand::kNothing, false},
    {"ar", EventKind::kAtomicLoad, 0, Operand::kAtomic, false},
    {"aw", EventKind::kAtomicStore, 0, Operand::kAtomic, false},
    {"au", EventKind::kAtomicRmw, 0, Operand::kAtomic, false},
    {"aud", EventKind::kAtomicRmw, kOnlyData, Operand::kAtomic, false},
    {"rp", EventKind::kRead, kNullValue, Operand::kVariable, false},
    {"wz", EventKind::kWrite, kNullValue, Operand::kVariable, false},
    {"rd", EventKind::kRead, kOnlyData, Operand::kVariable, false},
    {"wd", EventKind::kWrite, kOnlyData, Operand::kVariable, false},
    {"acqs", EventKind::kLock, kShared, Operand::kLock, false},
    {"rels", EventKind::kUnlock, kShared, Operand::kLock, false},
    {"req", EventKind::kLockRequest, 0, Operand::kLock, false},
    {"reqs", EventKind::kLockRequest, kShared, Operand::kLock, false},
    {"fork", EventKind::kFork, 0, Operand::kThread, true},
    {"join", EventKind::kJoin, 0, Operand::kThread, true},
    {"begin", EventKind::kBegin, 0, Operand::kNothing, true},
    {"end", EventKind::kEnd, 0, Operand::kNothing, true},
    {"process", EventKind::kKindCount, 0, Operand::kProcess, false},
    {"exit", EventKind::kSyscall, 0, Operand::kExit, false},
    {"wait", EventKind::kWaitBegin, 0, Operand::kCondition, false},
    {"woken", EventKind::kWaitEnd, 0, Operand::kCondition, false},
    {"timeout", EventKind::kWaitEnd, 1, Operand::kCondition, false},
    {"notify", EventKind::kNotify, 0, Operand::kLock, false},
    {"notifyAll", EventKind::kNotify, 1, Operand::kLock, false},
    {"enter", EventKind::kBarrierEnter, 0, Operand::kLock, false},
    {"leave", EventKind::kBarrierLeave, 0, Operand::kLock, false},
    {"post", EventKind::kSemPost, 0, Operand::kLock, false},
    {"take", EventKind::kSemWait, 0, Operand::kLock, false},
    {"send", EventKind::kSend, 0, Operand::kLock, false},
    {"receive", EventKind::kReceive, 0, Operand::kLock, false},
    {"alloc", EventKind::kAlloc, 0, Operand::kMemory, false},
    {"stack", EventKind::kAlloc, kThreadStack, Operand::kMemory, false},
    {"free", EventKind::kFree, 0, Operand::kBlock, false},
};

// The bits of `aux` that distinguish rows of the same kind; 0 if none do.
constexpr std::uint8_t told_by_aux(EventKind kind) {
  switch (kind) {
    case EventKind::kRead:
    case EventKind::kWrite:
      return kNullValue | kOnlyData;
    case EventKind::kAtomicRmw:
      return kOnlyData;
    case EventKind::kLock:
    case EventKind::kUnlock:
    case EventKind::kLockRequest:
    case EventKind::kWaitEnd:
    case EventKind::kNotify:
    case EventKind::kAlloc:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

const StdWord* std_word(std::string_view word) {
  const auto row = std::find_if(std::begin(kWords), std::end(kWords), [&](const StdWord& r) { return r.word == word; });
  return row == std::end(kWords) ? nullptr : row;
}

const StdWord* std_word_for(const TraceEvent& event, StdDialect dialect) {
  EventKind kind = event.kind;
  auto aux = static_cast<std::uint8_t>(event.aux & told_by_aux(kind));
  if (dialect == StdDialect::kField) {
    aux = 0;
    if (kind == EventKind::kAtomicLoad) kind = EventKind::kRead;
    if (kind == EventKind::kAtomicStore || kind == EventKind::kAtomicRmw) kind = EventKind::kWrite;
    if (kind == EventKind::kWaitBegin) kind = EventKind::kUnlock;
    if (kind == EventKind::kWaitEnd) kind = EventKind::kLock;
  }
  const auto row = std::find_if(std::begin(kWords), std::end(kWords), [&](const StdWord& r) {
    return r.kind == kind && r.aux == aux && (r.field || dialect == StdDialect::kFull);
  });
  const bool other_call = kind == EventKind::kSyscall && event.extra != kExitGroup;
  return row == std::end(kWords) || other_call ? nullptr : row;
}

}  // namespace reweave

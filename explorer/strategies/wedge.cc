// wedge: lets other threads run between two accesses of a thread. A thread about to touch an object again is stopped
// until another thread has made an access that is not serialisable with the two, or until no other thread can run. The
// unserializable patterns are those of Park, Vuduc, Harrold, ICSE 2010. The policy needs no knowledge of the program,
// so it can be used from the first run on.
//
// Locks count like memory: taking one again opens the gap between two critical sections. Each place stops each thread
// only the first few times. The bits of the configured depth select variants.
#include <sys/syscall.h>

#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

// Bits of PolicyConfig::depth.
constexpr std::uint64_t kNewFirst = 1;     // a new thread runs at once, its creator later
constexpr std::uint64_t kFirstUses = 2;    // threads are also stopped before their first use of an object
constexpr std::uint64_t kReversed = 4;     // the youngest of the threads that can run runs
constexpr std::uint64_t kNestedFirst = 8;  // threads that hold a lock are stopped before they take another
constexpr std::uint64_t kTimesOut = 16;    // waits that can time out do so as soon as they can
constexpr std::uint64_t kEndsLast = 32;    // the program ends only when no other thread can run

constexpr std::uint64_t kTouched = 512, kCounters = 128, kHeldSlots = 180, kLockSlots = 180;
enum {
  kSeenThreads = 0,
  kHeldBase = 8,                           // by thread: step at which it was stopped + 1; 0: not stopped
  kLocksBase = kHeldBase + kHeldSlots,     // by thread: locks held
  kTouchedBase = kLocksBase + kLockSlots,  // hash table of (thread, granule), see `touched`
  kCounterBase = kTouchedBase + kTouched,  // stops, a byte for each hash of (thread, place)
};
static_assert(kCounterBase + kCounters <= sizeof(PolicyState::words) / 8);
constexpr std::uint8_t kMostStops = 2;

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t& word : state.words) word = 0;
}

std::uint64_t hash(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a + 1) * 0x9e3779b97f4a7c15 ^ b * 0xbf58476d1ce4e5b9;
  return h ^ h >> 31;
}

bool counts(const PendingOp& op) {
  return op.object != 0 && (is_memory(op) || op.kind == OpKind::kLock || op.kind == OpKind::kOther);
}

std::uint64_t granule(const PendingOp& op) { return op.object & ~std::uint64_t{7}; }

// The last access of `thread` to the granule: 0 for none, else a tag whose lowest bit says whether it wrote.
std::uint64_t& touched(PolicyState& state, ThreadId thread, std::uint64_t at) {
  return state.words[kTouchedBase + hash(thread, at) % kTouched];
}
std::uint64_t tag(ThreadId thread, std::uint64_t at) { return at << 16 | std::uint64_t{thread} << 2 | 2; }

bool touched_before(PolicyState& state, ThreadId thread, const PendingOp& op, bool& wrote) {
  const std::uint64_t word = touched(state, thread, granule(op));
  wrote = (word & 1) != 0;
  return (word & ~std::uint64_t{1}) == tag(thread, granule(op));
}

std::uint64_t& held(PolicyState& state, ThreadId thread) { return state.words[kHeldBase + thread % kHeldSlots]; }
std::uint64_t& locks(PolicyState& state, ThreadId thread) { return state.words[kLocksBase + thread % kLockSlots]; }

// True if the operation ends the process, and with it threads that could still do something.
bool ends_program(const PendingOp& op) { return op.kind == OpKind::kSyscall && op.detail == SYS_exit_group; }

bool should_stop(const ChoiceArgs& args) {
  const Thread& me = args.current;
  if (args.count < 2) return false;
  if (ends_program(me.op)) return (args.config.depth & kEndsLast) != 0;
  if (!counts(me.op)) return false;
  bool wrote = false;
  bool stop = touched_before(args.state, me.id, me.op, wrote) || (args.config.depth & kFirstUses) != 0;
  if ((args.config.depth & kNestedFirst) != 0) stop = me.op.kind == OpKind::kLock && locks(args.state, me.id) > 0;
  if (!stop) return false;
  const std::uint64_t at = hash(me.id, me.op.pc) % (kCounters * 8);
  auto* counters = reinterpret_cast<std::uint8_t*>(&args.state.words[kCounterBase]);
  if (counters[at] >= kMostStops) return false;
  counters[at]++;
  return true;
}

// True if the access `other` came in between the accesses of the thread `stopped`, which may then continue.
bool comes_between(PolicyState& state, const Thread& stopped, const PendingOp& other) {
  if (granule(stopped.op) != granule(other)) return false;
  bool wrote = false;
  touched_before(state, stopped.id, stopped.op, wrote);
  return other.is_write != 0 || (wrote && stopped.op.is_write != 0);
}

void executes(const ChoiceArgs& args, ThreadId thread) {
  const PendingOp& op = args.threads[thread].op;
  held(args.state, thread) = 0;
  if (op.kind == OpKind::kLock) locks(args.state, thread)++;
  if (op.kind == OpKind::kUnlock && locks(args.state, thread) > 0) locks(args.state, thread)--;
  if (!counts(op)) return;
  touched(args.state, thread, granule(op)) = tag(thread, granule(op)) | (op.is_write != 0 ? 1 : 0);
}

ThreadId latest_held(const ChoiceArgs& args) {
  ThreadId latest = args.enabled[0];
  for (std::uint32_t i = 1; i < args.count; i++)
    if (held(args.state, args.enabled[i]) > held(args.state, latest)) latest = args.enabled[i];
  return latest;
}

// A stopped thread that may continue because the operation just executed came between its accesses; the current thread
// if there is none.
ThreadId let_go(const ChoiceArgs& args, const PendingOp& executed) {
  for (std::uint32_t i = 0; i < args.count; i++) {
    const ThreadId id = args.enabled[i];
    if (id != args.current.id && held(args.state, id) != 0 && comes_between(args.state, args.threads[id], executed))
      return id;
  }
  return args.current.id;
}

ThreadId pick(const ChoiceArgs& args) {
  const std::uint64_t depth = args.config.depth;
  // A thread never seen before, if those go first.
  std::uint64_t& seen = args.state.words[kSeenThreads];
  const ThreadId youngest = args.enabled[args.count - 1];
  if (youngest >= seen) {
    seen = youngest + 1u;
    if ((depth & kNewFirst) != 0) return youngest;
  }
  for (std::uint32_t i = 0; (depth & kTimesOut) != 0 && i < args.count; i++)
    if (times_out(args.threads[args.enabled[i]])) return args.enabled[i];
  if (args.current_enabled && !args.yielded && held(args.state, args.current.id) == 0) return args.current.id;
  // A thread that yields may wait in a loop for a stopped one, and so may the threads it yields to.
  if (args.yielded && held(args.state, latest_held(args)) != 0) return latest_held(args);
  ThreadId next = args.current.id;
  bool found = false;
  for (std::uint32_t i = 0; i < args.count; i++) {
    const ThreadId id = args.enabled[(depth & kReversed) != 0 ? args.count - 1 - i : i];
    if (held(args.state, id) != 0 || (args.yielded && id == args.current.id) || times_out(args.threads[id])) continue;
    // Round robin.
    if (!found || ((depth & kReversed) == 0 && next < args.current.id && id > args.current.id)) next = id;
    found = true;
  }
  if (found) return next;
  return held(args.state, latest_held(args)) != 0 ? latest_held(args) : next_in_turn(args);
}

// Words that remember what the current thread executed before this point.
enum { kLastObject = 1, kLastWrites = 2, kLastThread = 3 };

Choice choose(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  if (args.current_enabled && should_stop(args)) held(state, args.current.id) = args.step + 1;
  ThreadId chosen = args.current.id;
  if (state.words[kLastObject] != 0) {
    PendingOp last = {};
    last.object = state.words[kLastObject];
    last.is_write = static_cast<std::uint8_t>(state.words[kLastWrites]);
    last.kind = OpKind::kAccess;
    chosen = let_go(args, last);
  }
  if (chosen == args.current.id) chosen = pick(args);
  const PendingOp& op = args.threads[chosen].op;
  state.words[kLastObject] = counts(op) ? op.object : 0;
  state.words[kLastWrites] = op.is_write;
  executes(args, chosen);
  return {chosen, 0};
}

}  // namespace

extern const Policy kWedgePolicy = {"wedge", "stops threads between two accesses until another comes in between",
                                    begin_run, choose};

}  // namespace reweave

// Adding events. trace_emit.cc converts them to the model.
#include "predictor/model/trace_builder.h"

#include <sys/syscall.h>

#include <algorithm>

namespace reweave {
namespace {

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

// A release of a block counts as a write to at most this many of its granules; bounds the cost of huge blocks.
constexpr std::size_t kMaxFreedGranules = 4096;

// Flags for the facts about an access that the machine code shows.
std::uint8_t code_flags(const TraceEvent& event) {
  const std::uint8_t only_data = event.kind == EventKind::kWrite ? kCarries : kDecidesNothing;
  const bool null = event.kind != EventKind::kAtomicRmw && (event.aux & kNullValue) != 0;
  return static_cast<std::uint8_t>((null ? kNull : 0) | ((event.aux & kOnlyData) != 0 ? only_data : 0));
}

}  // namespace

std::uint32_t TraceBuilder::push(ThreadId thread, std::uint32_t site, Op op, std::uint32_t object) {
  raw_.push_back({object, site, stack_, source_, thread, op, 0, 0, 0, false});
  return static_cast<std::uint32_t>(raw_.size() - 1);
}

void TraceBuilder::add(const TraceEvent& event, std::uint32_t site) {
  source_ = added_++;
  if (event.thread >= stack_of_.size()) {
    stack_of_.resize(event.thread + 1u, 0);
    unwound_.resize(stack_of_.size(), 0);
  }
  stack_ = stack_at(event);
  switch (event.kind) {
    case EventKind::kCall:
    case EventKind::kReturn:
      return call(event, site);
    case EventKind::kStack:
      return set_stack(event);
    case EventKind::kSyscall:
      if (event.extra == SYS_exit_group) push(event.thread, site, Op::kExit, kNone);
      return;
    case EventKind::kFence:
      return;
    case EventKind::kLockRequest:
      pending_request_[event.thread] = {
          lock_id(event.address, event.thread), site, stack_, source_, event.thread, Op::kRequest, 0, 0, 0, false};
      return;
    default:
      break;
  }
  pending_request_.erase(event.thread);
  switch (event.kind) {
    case EventKind::kRead:
      return add_access(event, site, Op::kRead, code_flags(event));
    case EventKind::kWrite:
      return add_access(event, site, Op::kWrite, code_flags(event));
    case EventKind::kAtomicLoad:
      return add_access(event, site, Op::kRead, kAtomic);
    case EventKind::kAtomicStore:
      return add_access(event, site, Op::kWrite, kAtomic);
    case EventKind::kAtomicRmw:
      return add_access(event, site, Op::kUpdate, static_cast<std::uint8_t>(kAtomic | code_flags(event)));
    case EventKind::kAlloc:
    case EventKind::kFree:
      return add_heap(event, site);
    default:
      return add_sync(event, site);
  }
}

void TraceBuilder::add_access(const TraceEvent& event, std::uint32_t site, Op op, std::uint8_t flags) {
  const std::uint64_t bytes = std::clamp<std::uint64_t>(event.extra, 1, (kMaxRawPerEvent - 1) * kGranuleBytes);
  const std::uint64_t end = event.address + bytes;
  for (std::uint64_t at = event.address; at < end;) {
    const std::uint64_t number = at / kGranuleBytes;
    const std::uint64_t stop = std::min(end, (number + 1) * kGranuleBytes);
    bool fresh = false;
    const std::uint32_t id = granule_map_.id(number, fresh);
    if (fresh) granules_.push_back({number, block_at(at), event.thread});
    const auto low = static_cast<std::uint8_t>(at % kGranuleBytes);
    const auto high = static_cast<std::uint8_t>(low + (stop - at));
    touch(id, event.thread, op != Op::kRead, low, high);
    if (op == Op::kWrite && (flags & kCarries) != 0) granules_[id].carries = true;
    RawEvent& raw = raw_[push(event.thread, site, op, id)];
    raw.flags = static_cast<std::uint8_t>(flags | (at == event.address ? 0 : kSameInstruction));
    raw.low = low;
    raw.high = high;
    raw.valued = event.has_value && stop == end && at == event.address;
    if (raw.valued) values_.push_back(event.value);
    at = stop;
  }
}

void TraceBuilder::touch(std::uint32_t granule, ThreadId thread, bool write, std::uint8_t low, std::uint8_t high) {
  Granule& g = granules_[granule];
  if (low > 0) g.cuts = static_cast<std::uint8_t>(g.cuts | 1u << low);
  if (high < kGranuleBytes) g.cuts = static_cast<std::uint8_t>(g.cuts | 1u << high);
  if (thread != g.first_thread) g.shared = true;
  if (write) g.written = true;
}

void TraceBuilder::add_sync(const TraceEvent& event, std::uint32_t site) {
  const ThreadId t = event.thread;
  const auto other = static_cast<ThreadId>(event.extra);
  auto sync = [&] { return push(t, site, Op::kSync, kNone); };
  switch (event.kind) {
    case EventKind::kLock:
      return lock(event, site, event.address, event.aux == std::uint8_t(LockMode::kShared));
    case EventKind::kUnlock:
      return unlock(event, site, event.address);
    case EventKind::kWaitBegin:
      waiting_[t] = {event.extra, push(t, site, Op::kWait, condition_id(event.address))};
      unlock(event, site, event.extra);
      return sync_.wait_begin(event.address, t, sync());
    case EventKind::kWaitEnd: {
      // The edges end at a separate event before the mutex is reacquired: the waiter is awake, then waits for the
      // mutex.
      const auto waiting = waiting_.find(t);
      if (waiting == waiting_.end()) return;  // the trace starts during the wait
      if (event.aux == 1)
        raw_[waiting->second.began].op = Op::kSync;  // a timed-out wait needs no other thread to continue
      sync_.wait_end(event.address, t, event.aux == 1, sync());
      return lock(event, site, waiting->second.mutex, false);
    }
    case EventKind::kNotify:
      return sync_.notify(event.address, event.aux == 1, push(t, site, Op::kNotify, condition_id(event.address)));
    case EventKind::kBarrierEnter:
      return sync_.barrier_enter(event.address, t, sync());
    case EventKind::kBarrierLeave:
      return sync_.barrier_leave(event.address, t, sync());
    case EventKind::kSemPost:
      return sync_.sem_post(event.address, t, sync());
    case EventKind::kSemWait:
      return sync_.sem_wait(event.address, sync());
    case EventKind::kSend:
      return sync_.send(event.address, t, sync());
    case EventKind::kReceive:
      return sync_.receive(event.address, sync());
    case EventKind::kFork:
      if (const auto stack = new_stack_.find(t); stack != new_stack_.end()) {
        blocks_[stack->second].nth = other;
        new_stack_.erase(stack);
      }
      start_edges_.push_back({other, push(t, site, Op::kFork, other)});
      return;
    case EventKind::kJoin:
      push(t, site, Op::kWait, end_id(other));
      join_edges_.push_back({push(t, site, Op::kJoin, other), other});
      return;
    case EventKind::kBegin:
      push(t, site, Op::kBegin, kNone);
      return;
    case EventKind::kEnd:
      push(t, site, Op::kEnd, kNone);
      return;
    case EventKind::kBranch:
      has_branches_ = true;
      push(t, site, Op::kBranch, kNone);
      return;
    default:
      return;
  }
}

std::uint32_t TraceBuilder::lock_id(std::uint64_t address, ThreadId user) {
  auto [it, fresh] = live_locks_.try_emplace(address, static_cast<std::uint32_t>(locks_.size()));
  if (fresh) {
    locks_.push_back({address, 0, block_at(address)});
    lock_first_user_.push_back(user);
    lock_shared_use_.push_back(false);
  } else if (lock_first_user_[it->second] != user) {
    lock_shared_use_[it->second] = true;
  }
  return it->second;
}

std::uint32_t TraceBuilder::condition_id(std::uint64_t address) {
  const auto [it, fresh] = live_conditions_.try_emplace(address, static_cast<std::uint32_t>(signals_.size()));
  if (fresh) signals_.push_back({{address, 0, block_at(address)}});
  return it->second;
}

std::uint32_t TraceBuilder::end_id(ThreadId thread) {
  const auto [it, fresh] = end_signals_.try_emplace(thread, static_cast<std::uint32_t>(signals_.size()));
  if (fresh) signals_.push_back({{}, thread});
  return it->second;
}

void TraceBuilder::lock(const TraceEvent& event, std::uint32_t site, std::uint64_t address, bool shared) {
  const std::uint32_t id = lock_id(address, event.thread);
  Depth& depth = depth_[pair_key(id, event.thread)];
  if (depth.count++ > 0) return;
  depth.shared = shared;
  push(event.thread, site, shared ? Op::kAcquireShared : Op::kAcquire, id);
}

void TraceBuilder::unlock(const TraceEvent& event, std::uint32_t site, std::uint64_t address) {
  const std::uint32_t id = lock_id(address, event.thread);
  Depth& depth = depth_[pair_key(id, event.thread)];
  // A release without an acquisition (the trace starts inside the section, or another thread locked) is ignored.
  if (depth.count == 0 || --depth.count > 0) return;
  push(event.thread, site, depth.shared ? Op::kReleaseShared : Op::kRelease, id);
}

void TraceBuilder::call(const TraceEvent& event, std::uint32_t site) {
  std::uint32_t& now = stack_of_[event.thread];
  if (event.kind == EventKind::kReturn) {
    if (now != 0) now = calls_[now].parent;
    return;
  }
  now = called(now, site);
}

std::uint32_t TraceBuilder::called(std::uint32_t from, std::uint32_t site) {
  auto [it, fresh] = call_children_.try_emplace(pair_key(from, site), static_cast<std::uint32_t>(calls_.size()));
  if (fresh) calls_.push_back({from, site});
  return it->second;
}

void TraceBuilder::set_stack(const TraceEvent& event) {
  unwound_[event.thread] = event.extra < stacks_.size() ? stacks_[event.extra] : 0;
}

// Uses the unwound stack where there is one: it also has the functions of uninstrumented code.
std::uint32_t TraceBuilder::stack_at(const TraceEvent& event) const {
  const std::uint32_t unwound = unwound_[event.thread];
  return has_stack(event.kind) && unwound != 0 ? unwound : stack_of_[event.thread];
}

std::uint32_t TraceBuilder::block_at(std::uint64_t address) const {
  auto it = live_blocks_.upper_bound(address);
  if (it == live_blocks_.begin()) return kNone;
  --it;
  const HeapBlock& block = blocks_[it->second];
  return address - block.address < std::max<std::uint64_t>(block.bytes, 1) ? it->second : kNone;
}

void TraceBuilder::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + std::max<std::uint64_t>(bytes, 1);
  granule_map_.forget(address / kGranuleBytes, (end - 1) / kGranuleBytes);
  for (auto* live : {&live_locks_, &live_conditions_, &live_blocks_, &freed_blocks_}) {
    live->erase(live->lower_bound(address), live->lower_bound(end));
  }
}

void TraceBuilder::add_heap(const TraceEvent& event, std::uint32_t site) {
  if (event.address == 0) return;
  if (event.kind == EventKind::kFree) return release_block(event.address, event, site);
  forget(event.address, event.extra);
  const std::uint32_t stack = stack_of_[event.thread];
  const bool is_stack = event.aux == kThreadStack;
  const std::uint32_t nth = is_stack ? 0 : allocations_[pair_key(stack, site)]++;
  live_blocks_[event.address] = static_cast<std::uint32_t>(blocks_.size());
  if (is_stack) new_stack_[event.thread] = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({event.address, event.extra, site, stack, nth, is_stack});
}

void TraceBuilder::release_block(std::uint64_t address, const TraceEvent& event, std::uint32_t site) {
  auto it = live_blocks_.find(address);
  if (it == live_blocks_.end()) {
    const auto freed = freed_blocks_.find(address);
    if (freed != freed_blocks_.end()) push(event.thread, site, Op::kFree, freed->second);
    return;
  }
  const std::uint32_t block = it->second;
  push(event.thread, site, Op::kFree, block);
  const std::uint64_t bytes = std::max<std::uint64_t>(blocks_[it->second].bytes, 1);
  bool first = true;
  for (std::uint32_t id :
       granule_map_.used(address / kGranuleBytes, (address + bytes - 1) / kGranuleBytes, kMaxFreedGranules)) {
    touch(id, event.thread, true, 0, kGranuleBytes);
    RawEvent& raw = raw_[push(event.thread, site, Op::kWrite, id)];
    raw.flags = static_cast<std::uint8_t>(kFrees | (first ? 0 : kSameInstruction));
    raw.high = kGranuleBytes;
    first = false;
  }
  forget(address, bytes);
  freed_blocks_[address] = block;
}

void TraceBuilder::push_requests() {
  for (const auto& [thread, raw] : pending_request_) {
    const auto depth = depth_.find(pair_key(raw.object, thread));
    if (depth == depth_.end() || depth->second.count == 0) raw_.push_back(raw);
  }
  pending_request_.clear();
}

}  // namespace reweave

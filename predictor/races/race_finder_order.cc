// The order between threads: locks, atomics, starts and joins, descriptors. Also misuse of locks and threads.
#include "predictor/races/race_finder.h"

#include <algorithm>
#include <utility>

namespace reweave {

namespace {

// Memory orders as compilers number them.
bool acquires(std::uint8_t order) {
  return order == __ATOMIC_CONSUME || order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL ||
         order == __ATOMIC_SEQ_CST;
}
bool releases(std::uint8_t order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

}  // namespace

void RaceFinder::learn(ThreadId thread, const HandedClock& handed) {
  Thread& me = threads_[thread];
  if (me.no_order == 0 && !handed.known_to(me)) me.learn(handed.clock());
}

void RaceFinder::publish(ThreadId thread, HandedClock& to) {
  Thread& me = threads_[thread];
  if (me.no_order != 0) return;
  to.add(me);
  me.tick();
}

void RaceFinder::replace(ThreadId thread, HandedClock& with) {
  Thread& me = threads_[thread];
  if (me.no_order != 0) return;
  with.set(me);
  me.tick();
}

void RaceFinder::on_atomic_load(const TraceEvent& event) {
  access(event, false, true);
  if (!acquires(event.aux)) return;
  const auto object = objects_.find(event.address);
  if (object != objects_.end()) learn(event.thread, object->second);
}

void RaceFinder::on_atomic_store(const TraceEvent& event) {
  access(event, true, true);
  if (releases(event.aux)) replace(event.thread, objects_[event.address]);
}

void RaceFinder::on_atomic_update(const TraceEvent& event) {
  access(event, true, true);
  if (!acquires(event.aux) && !releases(event.aux)) return;
  HandedClock& object = objects_[event.address];
  if (acquires(event.aux)) learn(event.thread, object);
  if (releases(event.aux)) publish(event.thread, object);
}

void RaceFinder::on_release(const TraceEvent& event) { publish(event.thread, objects_[event.address]); }

void RaceFinder::on_acquire(const TraceEvent& event) { learn(event.thread, objects_[event.address]); }

void RaceFinder::on_send(const TraceEvent& event) {
  if (event.aux != kNoDescriptor) on_release(event);
}

void RaceFinder::on_receive(const TraceEvent& event) {
  if (event.aux != kNoDescriptor) on_acquire(event);
}

// --- locks ---

RaceFinder::Lock& RaceFinder::lock_at(ThreadId thread, std::uint64_t address, TopFunction top) {
  if (top == TopFunction::kInit) locks_.erase(address);
  const auto at = locks_.find(address);
  if (at != locks_.end()) return at->second;
  Lock lock;
  lock.id = static_cast<std::uint32_t>(found_.locks.size());
  found_.locks.push_back({address, {here(thread), top}});
  return locks_.emplace(address, std::move(lock)).first->second;
}

void RaceFinder::on_lock_request(const TraceEvent& event) { threads_[event.thread].requested = event.address; }

void RaceFinder::on_lock(const TraceEvent& event) {
  take_lock(event, event.address, event.aux == static_cast<std::uint8_t>(LockMode::kShared));
}

void RaceFinder::on_unlock(const TraceEvent& event) { give_lock(event, event.address); }

void RaceFinder::on_wait_begin(const TraceEvent& event) {
  threads_[event.thread].waits_with = event.extra;
  give_lock(event, event.extra);
}

void RaceFinder::on_wait_end(const TraceEvent& event) {
  if (const std::uint64_t mutex = std::exchange(threads_[event.thread].waits_with, 0)) take_lock(event, mutex, false);
}

void RaceFinder::take_lock(const TraceEvent& event, std::uint64_t address, bool shared) {
  Thread& me = threads_[event.thread];
  Lock& lock = lock_at(event.thread, address, TopFunction::kLock);
  const bool asked = std::exchange(me.requested, 0) == address;
  if (lock.depth[event.thread]++ > 0) return;
  if (asked) {
    const NamedPlace place = {here(event.thread), TopFunction::kLock};
    if (const auto cycle = order_.take(locks_held_[me.held], lock.id, place, event.thread)) {
      RaceFinding finding;
      finding.kind = RaceKind::kLockOrder;
      finding.process = addresses_.process_of(event.thread);
      finding.event = event_;
      for (const LockOrder::Step& step : *cycle) {
        finding.locks.push_back(step.lock);
        finding.stacks.push_back(step.takes);
        finding.threads.push_back(step.thread);
      }
      found_.findings.push_back(std::move(finding));
    }
  }
  learn(event.thread, lock.exclusive);
  if (!shared) learn(event.thread, lock.shared);
  lock.taken = {here(event.thread), TopFunction::kLock};
  me.held = locks_held_.with(me.held, {lock.id, !shared});
}

void RaceFinder::give_lock(const TraceEvent& event, std::uint64_t address) {
  Thread& me = threads_[event.thread];
  Lock& lock = lock_at(event.thread, address, TopFunction::kUnlock);
  const auto depth = lock.depth.find(event.thread);
  if (depth == lock.depth.end()) {
    const NamedPlace place = {here(event.thread), TopFunction::kUnlock};
    if (!process(addresses_.process_of(event.thread)).is_copy)
      report_misuse(RaceKind::kBadUnlock, event, lock, {place});
    return;
  }
  if (--depth->second > 0) return;
  lock.depth.erase(depth);
  const std::vector<LockHeld>& held = locks_held_[me.held];
  const auto mine = std::find_if(held.begin(), held.end(), [&](const LockHeld& each) { return each.lock == lock.id; });
  const bool exclusive = mine == held.end() || mine->exclusive;
  publish(event.thread, exclusive ? lock.exclusive : lock.shared);
  me.held = locks_held_.without(me.held, lock.id);
}

void RaceFinder::end_lock(const TraceEvent& event) {
  const auto at = locks_.find(event.address);
  if (at == locks_.end() || at->second.depth.empty()) return;
  Lock& lock = at->second;
  report_misuse(RaceKind::kDestroysLocked, event, lock, {{here(event.thread), TopFunction::kDestroy}, lock.taken});
  for (const auto& [holder, depth] : lock.depth)
    threads_[holder].held = locks_held_.without(threads_[holder].held, lock.id);
}

void RaceFinder::report_misuse(RaceKind kind, const TraceEvent& event, Lock& lock, std::vector<NamedPlace> stacks) {
  if (std::exchange(lock.is_broken, true)) return;
  RaceFinding finding;
  finding.kind = kind;
  finding.process = addresses_.process_of(event.thread);
  finding.event = event_;
  finding.stacks = std::move(stacks);
  finding.locks = {lock.id};
  finding.address = found_.locks[lock.id].address;
  finding.block = block_at(finding.address);
  found_.findings.push_back(std::move(finding));
}

// --- threads ---

void RaceFinder::on_fork(const TraceEvent& event) {
  const auto child = static_cast<ThreadId>(event.extra);
  grow(child);
  Thread& me = threads_[event.thread];
  Thread& other = threads_[child];
  ThreadOrigin& origin = found_.threads[child];
  origin.parent = event.thread;
  origin.is_made = std::exchange(me.has_created, false);
  origin.made = me.creates;
  origin.detached = me.creates_detached;
  if (const auto stack = blocks_.find(me.stack_for_new); stack != blocks_.end()) stack->second.thread = child;
  me.stack_for_new = 0;
  if (addresses_.process_of(child) != addresses_.process_of(event.thread)) {
    origin.is_made = false;
    other.stack = me.stack;
  }
  other.learn(me.clock);
  me.tick();
}

void RaceFinder::on_join(const TraceEvent& event) {
  if (event.extra >= threads_.size()) return;
  found_.threads[event.extra].joined = true;
  threads_[event.thread].learn(threads_[event.extra].clock);
}

void RaceFinder::on_end(const TraceEvent& event) { found_.threads[event.thread].ended_at = event_; }

// Leaked threads created at one place make one report, as in ThreadSanitizer.
void RaceFinder::find_leaks(std::uint16_t process) {
  std::vector<RaceFinding> leaks;
  for (std::size_t i = 0; i < threads_.size(); i++) {
    const ThreadOrigin& thread = found_.threads[i];
    const bool leaks_here =
        thread.process == process && thread.is_made && !thread.joined && !thread.detached && thread.ended_at != ~0ull;
    if (!leaks_here) continue;
    const auto known = std::find_if(leaks.begin(), leaks.end(), [&](const RaceFinding& leak) {
      return found_.threads[leak.threads[0]].made == thread.made;
    });
    if (known != leaks.end()) {
      known->count++;
      continue;
    }
    RaceFinding leak;
    leak.kind = RaceKind::kThreadLeak;
    leak.process = process;
    leak.event = event_;
    leak.threads = {static_cast<ThreadId>(i)};
    leaks.push_back(std::move(leak));
  }
  std::move(leaks.begin(), leaks.end(), std::back_inserter(found_.findings));
}

// A thread's handle is just above its stack, in the same mapping.
void RaceFinder::detach(std::uint64_t handle) {
  const auto after = blocks_.upper_bound(handle);
  if (after == blocks_.begin()) return;
  const BlockOrigin& stack = std::prev(after)->second;
  if (stack.is_stack) found_.threads[stack.thread].detached = true;
}

void RaceFinder::on_hint(const TraceEvent& event) {
  Thread& me = threads_[event.thread];
  const auto nest = [&](std::uint32_t& depth) { event.extra != 0 ? depth++ : depth -= depth != 0 ? 1 : 0; };
  switch (static_cast<Hint>(event.aux)) {
    case Hint::kCreatesThread:
      me.creates = {here(event.thread), TopFunction::kCreate};
      me.creates_detached = event.extra != 0;
      me.has_created = true;
      return;
    case Hint::kDetaches:
      return detach(event.address);
    case Hint::kWritesFile:
      return publish(event.thread, files_);
    case Hint::kReadsFile:
      return learn(event.thread, files_);
    case Hint::kIgnoresReads:
      return nest(me.no_reads);
    case Hint::kIgnoresWrites:
      return nest(me.no_writes);
    case Hint::kIgnoresOrder:
      return nest(me.no_order);
    case Hint::kBenign:
      benign_[event.address] = event.extra;
      return;
  }
}

}  // namespace reweave

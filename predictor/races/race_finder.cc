// Events in order, and accesses of memory. Locks, threads and the rest are in race_finder_order.cc.
#include "predictor/races/race_finder.h"

#include <sys/syscall.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace reweave {

namespace {

// Only this much of a block, from its start, is marked when it is allocated and when it is released.
constexpr std::uint64_t kMostOfBlock = 64 << 10;

// The bits of `aux` that mark an access of a virtual-table pointer.
constexpr std::uint8_t kVirtualTable = kMakesLock | kEndsLock;

bool is_virtual_table(const TraceEvent& event) {
  return event.extra == 8 && (event.aux & kVirtualTable) == kVirtualTable;
}
RaceKind of_virtual_table(RaceKind kind) {
  return kind == RaceKind::kRace ? RaceKind::kVirtualTableRace : RaceKind::kVirtualUseAfterFree;
}

}  // namespace

// In the order of EventKind; null: ignored.
const RaceFinder::Handler RaceFinder::kHandlers[] = {
    &RaceFinder::on_read,          &RaceFinder::on_write,
    &RaceFinder::on_atomic_load,   &RaceFinder::on_atomic_store,
    &RaceFinder::on_atomic_update, nullptr /* fence */,
    &RaceFinder::on_lock,          &RaceFinder::on_unlock,
    &RaceFinder::on_wait_begin,    &RaceFinder::on_wait_end,
    nullptr /* notify */,          &RaceFinder::on_release /* barrier */,
    &RaceFinder::on_acquire,       &RaceFinder::on_release /* semaphore */,
    &RaceFinder::on_acquire,       &RaceFinder::on_fork,
    &RaceFinder::on_join,          nullptr /* begin */,
    &RaceFinder::on_end,           nullptr /* branch */,
    &RaceFinder::on_alloc,         &RaceFinder::on_free,
    &RaceFinder::on_call,          &RaceFinder::on_return,
    &RaceFinder::on_syscall,       &RaceFinder::on_lock_request,
    nullptr /* stack */,           &RaceFinder::on_send,
    &RaceFinder::on_receive,       &RaceFinder::on_hint};

RaceFinder::RaceFinder(const TraceReader& trace, std::function<bool(std::uint32_t)> ignored)
    : trace_(trace), ignored_(std::move(ignored)), addresses_(trace), is_ignored_(trace.info().sites, -1) {
  static_assert(std::size(kHandlers) == static_cast<std::size_t>(EventKind::kKindCount));
  accesses_.push_back({});
  found_.is_instrumented =
      std::any_of(trace.info().modules.begin(), trace.info().modules.end(),
                  [](const ModuleInfo& module) { return module.path.ends_with("/libreweave-tsan.so"); });
  for (const TraceThreadInfo& thread : trace.info().threads) {
    grow(thread.id);
    Process& in = process(thread.process);
    ThreadOrigin& origin = found_.threads[thread.id];
    origin.process = thread.process;
    origin.parent = thread.parent;
    origin.number = in.threads++;
    if (origin.number == 0) in.is_copy = thread.kind != wire::SpawnKind::kFirst;
  }
}

void RaceFinder::grow(ThreadId thread) {
  while (threads_.size() <= thread) threads_.emplace_back(static_cast<ThreadId>(threads_.size()));
  if (found_.threads.size() < threads_.size()) found_.threads.resize(threads_.size());
}

void RaceFinder::take(const TraceChunk& chunk) {
  for (std::size_t i = 0; i < chunk.size(); i++) {
    event_ = chunk.first_event + i;
    take(addresses_.told_apart(chunk.event(i, 0)), chunk.site[i]);
  }
}

void RaceFinder::take(const TraceEvent& event, std::uint32_t site) {
  site_ = site;
  if (event.thread >= threads_.size()) grow(event.thread);
  look_for_exec(event, site);
  const Handler handler = kHandlers[static_cast<std::size_t>(event.kind)];
  if (handler != nullptr) (this->*handler)(event);
}

// Detects that a process executed another program: right after its execve its code is in another address space.
void RaceFinder::look_for_exec(const TraceEvent& event, std::uint32_t site) {
  Process& in = process(addresses_.process_of(event.thread));
  if (!in.executes) return;
  const SiteLocation place = trace_.site_location(site);
  if (place.module == kNoModule) return;
  const std::uint32_t space = trace_.info().modules[place.module].space;
  in.executes = false;
  if (space == in.space) return;
  start_over(addresses_.process_of(event.thread));
  in.is_copy = false;
}

void RaceFinder::start_over(std::uint16_t process) {
  const auto is_of = [process](std::uint64_t address) { return address >> kProcessShift == process; };
  const auto drop = [&](auto& map) { std::erase_if(map, [&](const auto& entry) { return is_of(entry.first); }); };
  cells_.forget_if(is_of);
  drop(locks_);
  drop(objects_);
  drop(blocks_);
  drop(benign_);
  for (std::size_t i = 0; i < threads_.size(); i++) {
    if (addresses_.process_of(static_cast<ThreadId>(i)) != process) continue;
    threads_[i].stack = 0;
    threads_[i].held = 0;
  }
}

void RaceFinder::on_syscall(const TraceEvent& event) {
  const std::uint16_t number = addresses_.process_of(event.thread);
  if (event.extra == SYS_exit_group) return find_leaks(number);
  if (event.extra != SYS_execve && event.extra != SYS_execveat) return;
  Process& in = process(number);
  const SiteLocation place = trace_.site_location(site_);
  if (place.module == kNoModule) return;
  in.space = trace_.info().modules[place.module].space;
  in.executes = true;
}

void RaceFinder::on_call(const TraceEvent& event) {
  if (event.aux == kEntersMain) return;
  StackId& stack = threads_[event.thread].stack;
  stack = found_.calls.called(stack, site_);
}

void RaceFinder::on_return(const TraceEvent& event) {
  StackId& stack = threads_[event.thread].stack;
  if (stack != 0) stack = found_.calls.parent(stack);
}

void RaceFinder::on_read(const TraceEvent& event) { access(event, false, false); }

void RaceFinder::on_write(const TraceEvent& event) {
  const bool ends = (event.aux & kEndsLock) != 0 && !is_virtual_table(event);
  if (ends) end_lock(event);
  access(event, true, false);
  if (ends) locks_.erase(event.address);
  if ((event.aux & kMakesLock) != 0 && !is_virtual_table(event))
    lock_at(event.thread, event.address, TopFunction::kInit);
}

void RaceFinder::access(const TraceEvent& event, bool write, bool atomic) {
  if (event.extra == 0) return;
  const Thread& me = threads_[event.thread];
  if ((write ? me.no_writes : me.no_reads) != 0) return;
  signed char& ignored = is_ignored_[site_];
  if (ignored < 0) ignored = ignored_(site_) ? 1 : 0;
  if (ignored != 0) return;
  AccessNote now = note_of(event.thread, write, atomic, TopFunction::kNoFunction);
  now.virtual_table = is_virtual_table(event) && !atomic;
  cells_.each(event.address, event.extra, [&](AccessCell& cell, std::uint64_t base, std::uint8_t bytes) {
    now.bytes = bytes;
    visit(cell, base, now);
  });
}

AccessNote RaceFinder::note_of(ThreadId thread, bool write, bool atomic, TopFunction top) {
  AccessNote note;
  note.clock = threads_[thread].now;
  note.access = access_number(thread, top);
  note.thread = thread;
  note.write = write;
  note.atomic = atomic;
  return note;
}

// Caches numbers by site, because a thread mostly repeats recent accesses.
std::uint32_t RaceFinder::access_number(ThreadId thread, TopFunction top) {
  constexpr std::size_t kKnown = 256;
  Thread& me = threads_[thread];
  if (me.known.empty()) me.known.resize(kKnown);
  KnownAccess& known = me.known[site_ % kKnown];
  const NamedPlace where = {here(thread), top};
  if (known.held != me.held || known.where != where) {
    known = {where, me.held, static_cast<std::uint32_t>(accesses_.size())};
    accesses_.push_back({where, me.held});
  }
  return known.access;
}

void RaceFinder::visit(AccessCell& cell, std::uint64_t base, const AccessNote& now) {
  using State = AccessCell::State;
  if (cell.state == State::kReported && !now.write) return;
  if (cell.state == State::kFreed) {
    const AccessNote before = cell[0];
    cell.reset(State::kReported);
    return report_race(base, now, before, RaceKind::kUseAfterFree);
  }
  const VectorClock& clock = threads_[now.thread].clock;
  for (std::size_t i = 0; i < cell.size();) {
    AccessNote& before = cell[i];
    const bool ordered = before.thread == now.thread || before.clock <= clock[before.thread];
    if (!ordered && now.conflicts(before)) {
      const AccessNote with = before;
      cell.reset(State::kReported);
      return report_race(base, now, with, RaceKind::kRace);
    }
    // A thread's write covers its later read of the same bytes.
    const bool covered = before.thread == now.thread && before.clock == now.clock && before.stands_for(now);
    if (covered) {
      if (now.stands_for(before)) before.access = now.access;
      return;
    }
    if (ordered && now.stands_for(before)) {
      cell.remove(i);
    } else {
      i++;
    }
  }
  cell.add(now);
}

RacingAccess RaceFinder::told(std::uint64_t base, const AccessNote& note) const {
  const Access& access = accesses_[note.access];
  return {access.where,
          base + static_cast<std::uint64_t>(std::countr_zero(note.bytes)),
          static_cast<std::uint32_t>(std::popcount(note.bytes)),
          note.thread,
          note.write,
          note.atomic,
          locks_held_[access.held]};
}

void RaceFinder::report_race(std::uint64_t base, const AccessNote& now, const AccessNote& before, RaceKind kind) {
  const auto benign = benign_.upper_bound(base + 7);
  if (benign != benign_.begin() && std::prev(benign)->first + std::prev(benign)->second > base) return;
  RaceFinding finding;
  finding.kind = now.virtual_table ? of_virtual_table(kind) : kind;
  finding.process = addresses_.process_of(now.thread);
  finding.event = event_;
  finding.accesses = {told(base, now), told(base, before)};
  const auto& [later, earlier] = std::pair(finding.accesses[0], finding.accesses[1]);
  if (!is_new(RaceKind::kRace, later.where, earlier.where)) return;
  finding.threads = {now.thread};
  if (before.thread != now.thread) finding.threads.push_back(before.thread);
  finding.address = std::min(later.address, earlier.address);
  finding.block = block_at(finding.address);
  found_.findings.push_back(std::move(finding));
}

// True if no race of this kind was found at these two places before. The order of the places does not matter.
bool RaceFinder::is_new(RaceKind kind, const NamedPlace& a, const NamedPlace& b) {
  const auto key = [](const NamedPlace& place) {
    return std::to_string(place.place.site) + ":" + std::to_string(place.place.stack) + ":" +
           std::to_string(static_cast<int>(place.top));
  };
  const auto [first, second] = std::minmax(key(a), key(b));
  return told_.insert(std::to_string(static_cast<int>(kind)) + " " + first + " " + second).second;
}

void RaceFinder::on_alloc(const TraceEvent& event) {
  const std::uint64_t bytes = std::max<std::uint64_t>(event.extra, 1);
  const auto drop = [&](auto& map) {
    map.erase(map.lower_bound(event.address), map.lower_bound(event.address + bytes));
  };
  cells_.forget(event.address, bytes);
  drop(locks_);
  drop(objects_);
  drop(blocks_);
  const bool is_stack = event.aux == kThreadStack;
  const NamedPlace made = {here(event.thread), TopFunction::kMalloc};
  blocks_[event.address] = {event.address, bytes, event.thread, made, is_stack};
  if (is_stack) threads_[event.thread].stack_for_new = event.address;
  if (is_stack || threads_[event.thread].no_writes != 0) return;
  // Counts as a write by the allocating thread, so that an access not ordered after it is a race.
  AccessNote now = note_of(event.thread, true, false, TopFunction::kMalloc);
  const auto write = [&](AccessCell& cell, std::uint64_t, std::uint8_t mask) {
    now.bytes = mask;
    cell.add(now);
  };
  cells_.each(event.address, std::min(bytes, kMostOfBlock), write);
}

void RaceFinder::on_free(const TraceEvent& event) {
  const auto block = blocks_.find(event.address);
  if (block == blocks_.end()) return;
  const std::uint64_t bytes = block->second.bytes;
  if (threads_[event.thread].no_writes == 0) {
    AccessNote now = note_of(event.thread, true, false, TopFunction::kFree);
    const std::uint64_t looked_at = std::min((bytes + 7) & ~std::uint64_t{7}, kMostOfBlock);
    cells_.each(event.address, looked_at, [&](AccessCell& cell, std::uint64_t base, std::uint8_t mask) {
      now.bytes = mask;
      visit(cell, base, now);
      if (cell.state == AccessCell::State::kReported) return;
      cell.reset(AccessCell::State::kFreed);
      cell.add(now);
    });
  }
  const auto drop = [&](auto& map) {
    map.erase(map.lower_bound(event.address), map.lower_bound(event.address + bytes));
  };
  drop(locks_);
  drop(objects_);
  drop(blocks_);
}

std::optional<BlockOrigin> RaceFinder::block_at(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return {};
  const BlockOrigin& block = std::prev(after)->second;
  if (address - block.address >= block.bytes) return {};
  return block;
}

RaceFindings RaceFinder::finish() { return std::move(found_); }

}  // namespace reweave

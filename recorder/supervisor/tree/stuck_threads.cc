#include "recorder/supervisor/tree/stuck_threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/uio.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "recorder/waiting.h"

namespace reweave {

namespace {

constexpr std::uint64_t bits(std::initializer_list<int> signals) {
  std::uint64_t set = 0;
  for (const int number : signals) set |= std::uint64_t{1} << (number - 1);
  return set;
}

// Signals whose handlers end no wait: glibc's own (SIGCANCEL and SIGSETXID, nptl(7)), which ignore signals from other
// processes, and those that are caused only by a running thread, a child, or a change of the terminal's size.
constexpr std::uint64_t kCannotHelp = bits({32, 33, SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
                                            SIGPIPE, SIGWINCH, SIGURG, SIGTTIN, SIGTTOU});
// Signals with which a user ends the program. They may end the wait of a server, but not one for a lock or a child.
constexpr std::uint64_t kAskedToEnd = bits({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT});
constexpr std::uint64_t kAlarm = bits({SIGALRM});

bool is_private(const Wait& wait) { return wait.key >> 63 == 0; }

std::vector<const Thread*> list_threads(const RuntimeState& state) {
  std::vector<const Thread*> threads;
  for (const Thread& thread : live_threads(state)) threads.push_back(&thread);
  return threads;
}

class Search {
 public:
  Search(const RuntimeState& state, const TreeView& view) : state_(state), view_(view), threads_(list_threads(state)) {}

  StuckThreads run() {
    find_owners();
    for (const Thread* thread : threads_) add(*thread);
    for (bool changed = true; changed;)
      changed = std::erase_if(stuck_, [&](const auto& entry) { return is_freed(entry.second); }) > 0;
    StuckThreads result;
    result.all = able_.empty() && !stuck_.empty();
    result.circle = add_circles();
    result.process = has_stuck_process();
    for (auto& [id, thread] : stuck_) result.threads.push_back(thread);
    return result;
  }

 private:
  const Process& process_of(const Thread& thread) const { return state_.processes[thread.process % kMaxProcesses]; }

  std::uint64_t handled_by(const Thread& thread) const {
    return state_.processes[process_of(thread).handlers_of % kMaxProcesses].handled_signals & ~kCannotHelp;
  }

  // Finds the owners of the mutexes that threads wait for.
  void find_owners() {
    std::multimap<std::int32_t, const Thread*> by_tid;
    for (const Thread* thread : threads_) by_tid.emplace(thread->tid, thread);
    for (const Thread* thread : threads_) {
      const Wait& wait = thread->wait;
      if (!needs_others(state_, *thread) || wait.kind != WaitKind::kMutex || wait.owner_tid == 0) continue;
      const Process& process = process_of(*thread);
      const auto [begin, end] = by_tid.equal_range(view_.mutex_owner(process, wait.address));
      for (auto owner = begin; owner != end; ++owner) {
        const Process& its = process_of(*owner->second);
        const bool shares = !is_private(wait) || its.memory_of == process.memory_of;
        if (shares && its.pid_namespace == process.pid_namespace) owners_[thread->id] = owner->second->id;
      }
    }
  }

  std::optional<ThreadId> owner_of(ThreadId thread) const {
    const auto found = owners_.find(thread);
    return found == owners_.end() ? std::nullopt : std::optional(found->second);
  }

  void add(const Thread& thread) {
    StuckThread entry{thread.id, {}, owner_of(thread.id)};
    if (thread.state.load() == ThreadState::kInKernel) entry.in_kernel = view_.kernel_wait(state_, thread, pipes_);
    const bool waits = entry.in_kernel || needs_others(state_, thread);
    if (!waits || a_handler_may_help(entry, thread)) return note_able(thread);
    stuck_.emplace(thread.id, entry);
  }

  bool a_handler_may_help(const StuckThread& entry, const Thread& thread) const {
    const WaitKind kind = thread.wait.kind;
    if (!entry.in_kernel && is_uninterruptible(kind)) return false;
    const bool at_lock = kind == WaitKind::kMutex || kind == WaitKind::kRwlock || kind == WaitKind::kSpin;
    const bool is_bound = entry.in_kernel ? entry.in_kernel->is_for_child : at_lock;
    return (handled_by(thread) & ~(is_bound ? kAskedToEnd : 0)) != 0;
  }

  void note_able(const Thread& thread) {
    able_.insert(thread.process);
    able_memory_.insert(process_of(thread).memory_of);
  }

  // True if a thread that is not stuck may end this one's wait; then it is not stuck either.
  bool is_freed(const StuckThread& entry) {
    const Thread& thread = state_.threads[entry.thread];
    if (!may_be_woken(entry, thread)) return false;
    note_able(thread);
    return true;
  }

  bool may_be_woken(const StuckThread& entry, const Thread& thread) const {
    if (entry.in_kernel)
      return std::ranges::any_of(entry.in_kernel->processes, [&](std::uint32_t i) { return able_.contains(i); });
    if (thread.wait.kind == WaitKind::kVfork) return frees_vfork_parent(thread);
    const bool is_inside =
        is_private(thread.wait) && thread.wait.kind != WaitKind::kTracer && thread.wait.kind != WaitKind::kFutexVector;
    return is_inside ? able_memory_.contains(process_of(thread).memory_of) : !able_.empty();
  }

  bool frees_vfork_parent(const Thread& parent) const {
    return std::ranges::any_of(able_,
                               [&](std::uint32_t i) { return state_.processes[i].vfork_parent == parent.id + 1u; });
  }

  // The owner of the mutex that `thread` waits for, unless an alarm may end the wait.
  std::optional<ThreadId> owner_waited_for(ThreadId thread) const {
    return (handled_by(state_.threads[thread]) & kAlarm) == 0 ? owner_of(thread) : std::nullopt;
  }

  // Adds the threads that wait for each other's mutexes; true if there are any.
  bool add_circles() {
    bool found = false;
    for (const auto& [first, owner] : owners_) {
      std::optional<ThreadId> at = owner_waited_for(first);
      for (std::size_t hops = 0; hops < owners_.size() && at && *at != first; hops++) at = owner_waited_for(*at);
      if (at != first) continue;
      found = true;
      stuck_.emplace(first, StuckThread{first, {}, owner});
    }
    return found;
  }

  bool has_stuck_process() const {
    std::set<std::uint32_t> awaited;
    for (const auto& [id, entry] : stuck_)
      if (entry.in_kernel && entry.in_kernel->is_for_child)
        awaited.insert(entry.in_kernel->processes.begin(), entry.in_kernel->processes.end());
    return std::ranges::any_of(stuck_, [&](const auto& item) {
      const Thread& thread = state_.threads[item.first];
      const bool at_lock = !item.second.in_kernel && thread.wait.owner_tid != 0;
      return at_lock && !able_memory_.contains(process_of(thread).memory_of) && awaited.contains(thread.process);
    });
  }

  const RuntimeState& state_;
  const TreeView& view_;
  const std::vector<const Thread*> threads_;
  OpenPipes pipes_{state_};
  std::map<ThreadId, ThreadId> owners_;  // by the thread that waits for the mutex
  std::map<ThreadId, StuckThread> stuck_;
  std::set<std::uint32_t> able_;         // processes with threads that are not stuck
  std::set<std::uint32_t> able_memory_;  // the processes whose memory these use
};

// "thread 1", "threads 1, 2" or "threads 1, 2, 3 and 7 more"
std::string threads_of(const RuntimeState& state, const std::vector<std::uint32_t>& processes) {
  constexpr std::size_t kMostListed = 5;
  std::string list;
  std::size_t count = 0;
  for (const Thread& thread : live_threads(state)) {
    if (!std::ranges::binary_search(processes, thread.process) || ++count > kMostListed) continue;
    list += fmt::format("{}{}", count == 1 ? "" : ", ", thread.id);
  }
  if (count > kMostListed) list += fmt::format(" and {} more", count - kMostListed);
  return (count == 1 ? "thread " : "threads ") + list;
}

}  // namespace

std::optional<KernelWait> LiveTreeView::kernel_wait(const RuntimeState& state, const Thread& thread,
                                                    OpenPipes& pipes) const {
  return reweave::kernel_wait(state, thread, pipes);
}

std::int32_t LiveTreeView::mutex_owner(const Process& process, std::uint64_t address) const {
  std::int32_t owner = 0;
  const iovec ours = {&owner, sizeof owner};
  const iovec theirs = {reinterpret_cast<void*>(address + offsetof(pthread_mutex_t, __data.__owner)), sizeof owner};
  return process_vm_readv(process.real_pid, &ours, 1, &theirs, 1, 0) == sizeof owner ? owner : 0;
}

StuckThreads find_stuck_threads(const RuntimeState& state, const TreeView& view) { return Search(state, view).run(); }

std::string describe(const RuntimeState& state, const StuckThreads& stuck) {
  constexpr std::size_t kMostLines = 16;  // so that the text has room in RunStatus::message
  std::string text = "deadlock: ";
  text += stuck.circle ? "threads wait for each other"
          : stuck.all  ? "every thread waits and none can be woken"
                       : "a process waits and none of its threads can be woken";
  for (std::size_t i = 0; i < std::min(stuck.threads.size(), kMostLines); i++) {
    const StuckThread& entry = stuck.threads[i];
    const Thread& thread = state.threads[entry.thread];
    if (entry.in_kernel) {
      text += fmt::format("\n  thread {} waits for {}, which only {} could end", thread.id, entry.in_kernel->what,
                          threads_of(state, entry.in_kernel->processes));
      continue;
    }
    const Thread* awaited = awaited_end(state, thread);
    text += fmt::format("\n  thread {} waits for ", thread.id);
    text += awaited == nullptr ? fmt::format("{} at {:#x}", name_of(thread.wait.kind), thread.wait.address)
                               : fmt::format("thread {} to end", awaited->id);
    if (const std::uint64_t pc = waits_at(thread, awaited)) text += fmt::format(", pc {:#x}", pc);
    if (entry.owner) text += fmt::format(", held by thread {}", *entry.owner);
  }
  if (stuck.threads.size() > kMostLines) text += fmt::format("\n  and {} more", stuck.threads.size() - kMostLines);
  return text;
}

}  // namespace reweave

// Finds the threads of a tree that can never continue, and tests how long the watch waits for them.
#define BOOST_TEST_MODULE stuck_threads
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <map>

#include "recorder/alive_processes.h"
#include "recorder/live_threads.h"
#include "recorder/supervisor/target/baton.h"
#include "recorder/supervisor/tree/deadlock_watch.h"

namespace reweave {
namespace {

struct FakeView : TreeView {
  std::optional<KernelWait> kernel_wait(const RuntimeState&, const Thread& thread, OpenPipes&) const override {
    const auto found = waits.find(thread.id);
    return found == waits.end() ? std::nullopt : std::optional(found->second);
  }
  std::int32_t mutex_owner(const Process&, std::uint64_t address) const override {
    const auto found = owners.find(address);
    return found == owners.end() ? 0 : found->second;
  }
  std::map<ThreadId, KernelWait> waits;
  std::map<std::uint64_t, std::int32_t> owners;
};

constexpr std::uint64_t kShared = std::uint64_t{1} << 63;
constexpr std::int32_t kFirstTid = 100;

// Processes 0 and 1, the parent and its child, with threads to be added.
struct Tree {
  Tree() {
    for (std::uint16_t i = 0; i < 2; i++) {
      Process& process = state.processes[i];
      process.index = process.memory_of = process.handlers_of = i;
      state.process_count++;
      mark_alive(state, i);
    }
  }

  Thread& add(std::uint16_t process) {
    const auto id = static_cast<ThreadId>(state.thread_count++);
    Thread& thread = state.threads[id];
    thread.id = id;
    thread.process = process;
    add_live(state, thread);
    thread.tid = kFirstTid + id;
    thread.wait.deadline = kNoDeadline;
    return thread;
  }

  // A thread that waits for the mutex at `address`, which the thread `owner` holds.
  Thread& at_mutex(std::uint16_t process, std::uint64_t address, ThreadId owner) {
    Thread& thread = add(process);
    thread.state.store(ThreadState::kBlocked);
    thread.wait.kind = WaitKind::kMutex;
    thread.wait.key = thread.wait.address = address;
    thread.wait.owner_tid = view.owners[address] = kFirstTid + owner;
    return thread;
  }

  Thread& at_condition(std::uint16_t process, std::uint64_t key) {
    Thread& thread = add(process);
    thread.state.store(ThreadState::kBlocked);
    thread.wait.kind = WaitKind::kCondition;
    thread.wait.key = key;
    return thread;
  }

  Thread& at_child(std::uint16_t process, std::uint32_t child) {
    Thread& thread = add(process);
    thread.state.store(ThreadState::kInKernel);
    view.waits[thread.id] = {"a child process to end", true, {child}};
    return thread;
  }

  Thread& asleep(std::uint16_t process) {
    Thread& thread = add(process);
    thread.state.store(ThreadState::kBlocked);
    thread.wait.kind = WaitKind::kFutex;
    thread.wait.deadline = 1;
    return thread;
  }

  std::vector<ThreadId> stuck() const {
    std::vector<ThreadId> ids;
    for (const StuckThread& entry : find_stuck_threads(state, view).threads) ids.push_back(entry.thread);
    return ids;
  }

  ArenaMemory arena{64 << 10};
  RuntimeState& state = arena.state();
  FakeView view;
};

using Ids = std::vector<ThreadId>;

BOOST_FIXTURE_TEST_CASE(parent_and_child_that_is_stuck, Tree) {
  at_child(0, 1);
  at_condition(1, 8);
  BOOST_TEST((stuck() == Ids{0, 1}));
  BOOST_TEST(find_stuck_threads(state, view).all);
}

BOOST_FIXTURE_TEST_CASE(a_thread_that_sleeps_frees_those_who_wait_for_it, Tree) {
  at_child(0, 1);
  at_condition(1, 8);
  asleep(1);
  BOOST_TEST(stuck().empty());
}

BOOST_FIXTURE_TEST_CASE(a_private_object_is_out_of_reach_of_other_processes, Tree) {
  asleep(0);
  at_condition(1, 8);
  BOOST_TEST((stuck() == Ids{1}));
  state.processes[1].memory_of = 0;
  BOOST_TEST(stuck().empty());
}

BOOST_FIXTURE_TEST_CASE(a_shared_object_is_not, Tree) {
  asleep(0);
  at_condition(1, 8 | kShared);
  BOOST_TEST(stuck().empty());
}

BOOST_FIXTURE_TEST_CASE(a_call_that_nobody_knows_may_end, Tree) {
  at_condition(0, 8);
  add(1).state.store(ThreadState::kInKernel);
  at_child(0, 1);
  BOOST_TEST(stuck().empty());
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_help, Tree) {
  at_child(0, 1);
  at_condition(1, 8);
  const auto handles = [&](int process, int number) {
    state.processes[process].handled_signals = std::uint64_t{1} << (number - 1);
  };
  handles(1, SIGTERM);
  BOOST_TEST(stuck().empty());
  handles(1, SIGSEGV);
  BOOST_TEST((stuck() == Ids{0, 1}));
  handles(0, SIGTERM);  // as shells do; it does not end the child's wait
  BOOST_TEST((stuck() == Ids{0, 1}));
  state.threads[1].wait.kind = WaitKind::kMutex;
  handles(1, SIGTERM);  // the handler releases no lock
  BOOST_TEST((stuck() == Ids{0, 1}));
  handles(0, SIGALRM);  // the handler may kill the child
  BOOST_TEST((stuck() == Ids{1}));
  BOOST_TEST(!find_stuck_threads(state, view).all);
}

BOOST_FIXTURE_TEST_CASE(a_circle_beside_others, Tree) {
  at_mutex(0, 16, 1);
  at_mutex(0, 24, 0);
  asleep(0);
  const StuckThreads found = find_stuck_threads(state, view);
  BOOST_TEST(found.circle);
  BOOST_TEST(!found.all);
  BOOST_TEST((stuck() == Ids{0, 1}));
  BOOST_TEST(describe(state, found) ==
             "deadlock: threads wait for each other\n  thread 0 waits for a mutex at 0x10, held by thread 1\n"
             "  thread 1 waits for a mutex at 0x18, held by thread 0");
}

BOOST_FIXTURE_TEST_CASE(a_join_names_the_thread, Tree) {
  constexpr std::uint64_t kTidWord = 0x40;
  Thread &waiter = add(0), &joined = add(0);
  waiter.state.store(ThreadState::kBlocked);
  waiter.wait.kind = WaitKind::kFutex;
  waiter.wait.address = joined.clear_child_tid = kTidWord;
  waiter.waits_at = 0x1000;
  waiter.op.pc = 0x2000;  // in the library
  StuckThreads found;
  found.threads.push_back({waiter.id, {}, {}});
  BOOST_TEST(describe(state, found).ends_with("thread 0 waits for thread 1 to end, pc 0x1000"));
  joined.process = 1;  // the same address in another address space
  BOOST_TEST(describe(state, found).ends_with("thread 0 waits for a futex at 0x40, pc 0x2000"));
}

BOOST_FIXTURE_TEST_CASE(an_owner_that_has_let_go_since_is_none, Tree) {
  at_mutex(0, 16, 1);
  at_mutex(0, 24, 0);
  asleep(0);
  view.owners[24] = kFirstTid + 2;
  BOOST_TEST(!find_stuck_threads(state, view).circle);
}

BOOST_FIXTURE_TEST_CASE(a_process_at_a_lock_that_others_wait_for, Tree) {
  asleep(0);
  at_child(0, 1);
  Thread& child = at_mutex(1, 16, 9);
  const StuckThreads found = find_stuck_threads(state, view);
  BOOST_TEST(found.process);
  BOOST_TEST(!found.all);
  child.wait.owner_tid = 0;  // no owner: perhaps it only waits to be killed
  BOOST_TEST(!find_stuck_threads(state, view).process);
}

BOOST_FIXTURE_TEST_CASE(the_watch_is_patient, Tree) {
  at_child(0, 1);
  Thread& child = at_condition(1, 8);
  DeadlockWatch watch(arena, view);
  const auto is_over = [&] { return arena.header().status.fatal.load() != 0; };
  const auto begin = DeadlockWatch::Clock::now();
  const auto after = [&](int milliseconds) { watch.look(begin + std::chrono::milliseconds(milliseconds)); };
  after(0);
  BOOST_TEST(!is_over());
  child.wait.order = 5;  // it has waited for something else meanwhile
  after(1100);
  BOOST_TEST(!is_over());
  state.holder.store(1);
  after(2200);
  BOOST_TEST(!is_over());
  BOOST_TEST(state.holder.load() == 1u);
  state.holder.store(0);
  after(3300);
  BOOST_TEST(is_over());
  BOOST_TEST(arena.published().bytes != 0u);
  const auto* record = reinterpret_cast<const wire::RecordHeader*>(arena.published().data);
  BOOST_TEST(record->kind == static_cast<std::uint16_t>(wire::RecordKind::kOutcome));
  BOOST_TEST(record->bytes == arena.published().bytes);
}

BOOST_FIXTURE_TEST_CASE(patience_begins_again_after_a_look_that_found_nothing, Tree) {
  at_child(0, 1);
  at_condition(1, 8);
  DeadlockWatch watch(arena, view);
  const auto begin = DeadlockWatch::Clock::now();
  const auto after = [&](int seconds) { watch.look(begin + std::chrono::seconds(seconds)); };
  after(0);
  const KernelWait wait = view.waits.at(0);
  view.waits.clear();
  after(1);
  view.waits[0] = wait;
  after(2);
  BOOST_TEST(arena.header().status.fatal.load() == 0u);
  after(3);
  BOOST_TEST(arena.header().status.fatal.load() == 1u);
}

BOOST_FIXTURE_TEST_CASE(an_alarm_of_one_of_them_breaks_a_circle, Tree) {
  at_mutex(0, 16 | kShared, 1);
  at_mutex(1, 24 | kShared, 0);
  asleep(0);
  BOOST_TEST(find_stuck_threads(state, view).circle);
  state.processes[1].handled_signals = std::uint64_t{1} << (SIGALRM - 1);
  BOOST_TEST(!find_stuck_threads(state, view).circle);
}

BOOST_FIXTURE_TEST_CASE(the_watch_is_more_patient_beside_others, Tree) {
  at_mutex(0, 16, 1);
  at_mutex(0, 24, 0);
  asleep(0);
  DeadlockWatch watch(arena, view);
  const auto begin = DeadlockWatch::Clock::now();
  for (int second = 0; second < 10; second++) watch.look(begin + std::chrono::seconds(second));
  BOOST_TEST(arena.header().status.fatal.load() == 0u);
  watch.look(begin + std::chrono::seconds(10));
  BOOST_TEST(arena.header().status.fatal.load() == 1u);
}

}  // namespace
}  // namespace reweave

// The queues of waiting threads and the lists of live threads, and their repair after the baton holder was killed.
#define BOOST_TEST_MODULE wait_queues
#include <boost/test/unit_test.hpp>

#include <vector>

#include "recorder/alive_processes.h"
#include "recorder/live_threads.h"
#include "recorder/supervisor/ring/arena_memory.h"
#include "recorder/supervisor/tree/repaired_state.h"

namespace reweave {
namespace {

constexpr std::uint64_t kKey = 0x1000;
using Ids = std::vector<ThreadId>;

// A process with threads to be added.
struct Run {
  Run() {
    state.process_count = state.fd_tables_used = 1;
    mark_alive(state, 0);
  }

  Thread& add() {
    const auto id = static_cast<ThreadId>(state.thread_count++);
    Thread& thread = state.threads[id];
    thread.id = id;
    add_live(state, thread);
    use_fd_table(state, thread, 0);
    return thread;
  }

  Thread& add_waiting(std::uint64_t order) {
    Thread& thread = add();
    thread.wait.kind = WaitKind::kFutex;
    thread.wait.key = thread.wait.address = kKey;
    thread.wait.order = order;
    enter_wait_queue(state, thread);
    thread.state.store(ThreadState::kBlocked);
    return thread;
  }

  Ids waiting() {
    Ids ids;
    const WaitQueue& queue = wait_queue(state, WaitKind::kFutex, kKey);
    for (Thread* thread = first_waiting(state, queue); thread != nullptr; thread = next_waiting(state, *thread))
      ids.push_back(thread->id);
    return ids;
  }

  Ids of_process() {
    Ids ids;
    for (const Thread& thread : threads_of(state, state.processes[0])) ids.push_back(thread.id);
    return ids;
  }

  ArenaMemory arena{64 << 10};
  RuntimeState& state = arena.state();
};

BOOST_FIXTURE_TEST_CASE(threads_wait_in_order_of_arrival, Run) {
  add_waiting(5), add_waiting(6), add_waiting(3), add_waiting(4);  // the last two were requeued
  BOOST_TEST(waiting() == (Ids{2, 3, 0, 1}));
  BOOST_TEST(state.waiting_at[wait_slot(kKey)] == 4);
}

BOOST_FIXTURE_TEST_CASE(threads_leave_a_queue_at_any_place, Run) {
  for (std::uint64_t order = 1; order <= 4; order++) add_waiting(order);
  leave_wait_queue(state, state.threads[1]);
  BOOST_TEST(waiting() == (Ids{0, 2, 3}));
  leave_wait_queue(state, state.threads[0]);
  leave_wait_queue(state, state.threads[3]);
  BOOST_TEST(waiting() == (Ids{2}));
  leave_wait_queue(state, state.threads[2]);
  BOOST_TEST(waiting() == Ids{});
  BOOST_TEST(state.waiting_at[wait_slot(kKey)] == 0);
}

BOOST_FIXTURE_TEST_CASE(a_killed_thread_leaves_everything, Run) {
  add(), add_waiting(1), add();
  remove_live(state, state.threads[1], ThreadState::kExited);
  BOOST_TEST(waiting() == Ids{});
  BOOST_TEST(of_process() == (Ids{0, 2}));
  BOOST_TEST(!state.live.has(1));
  BOOST_TEST(state.live_threads == 2u);
  BOOST_TEST(state.fd_tables[0].users == 2u);
}

BOOST_FIXTURE_TEST_CASE(the_last_user_frees_a_descriptor_table, Run) {
  remove_live(state, add(), ThreadState::kExited);
  BOOST_TEST(state.fd_tables_in_use.first_absent() == 0u);
}

// The holder was killed between two writes: the queue ends too early, a thread is in no list, and counts are wrong.
BOOST_FIXTURE_TEST_CASE(a_half_made_change_is_repaired, Run) {
  add(), add_waiting(2), add_waiting(1), add_waiting(3);
  state.threads[1].next_waiting = 0;
  state.processes[0].first_thread = 0;
  state.live_threads = 7;
  state.fd_tables[0].users = 0;
  state.processes[0].memory_users = 3;
  repair_state(state);
  BOOST_TEST(waiting() == (Ids{2, 1, 3}));
  BOOST_TEST(of_process() == (Ids{0, 1, 2, 3}));
  BOOST_TEST(state.live_threads == 4u);
  BOOST_TEST(state.processes[0].live_threads == 4);
  BOOST_TEST(state.fd_tables[0].users == 4u);
  BOOST_TEST(!memory_is_shared(state, state.processes[0]));
  BOOST_TEST(state.waiting_at[wait_slot(kKey)] == 3);
}

BOOST_AUTO_TEST_CASE(a_set_finds_its_next_member) {
  IdSet<192> set{};
  for (const std::uint32_t id : {0u, 63u, 64u, 191u}) set.add(id);
  BOOST_TEST(set.next(0, 192) == 0u);
  BOOST_TEST(set.next(1, 192) == 63u);
  BOOST_TEST(set.next(64, 192) == 64u);
  BOOST_TEST(set.next(65, 192) == 191u);
  BOOST_TEST(set.next(65, 191) == 191u);  // none is below the end
  BOOST_TEST(set.next(64, 64) == 64u);
  set.remove(64);
  BOOST_TEST(set.next(64, 192) == 191u);
  BOOST_TEST(set.first_absent() == 1u);
}

}  // namespace
}  // namespace reweave

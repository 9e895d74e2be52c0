// The supervisor must know which processes are dead.
#define BOOST_TEST_MODULE tree_watch
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "recorder/alive_processes.h"
#include "recorder/live_threads.h"
#include "recorder/supervisor/tree/tree_watch.h"

namespace reweave {
namespace {

// A run of one process that has the baton.
struct Run {
  Run() { begin(arena.state()); }
  static void begin(RuntimeState& state) {
    state.process_count = 1;
    mark_alive(state, 0);
    state.thread_count = 1;
    add_live(state, state.threads[0]);
    use_fd_table(state, state.threads[0], 0);
    state.threads[0].state.store(ThreadState::kRunning);
    state.holder.store(1);
  }
  ArenaMemory arena{64 << 10};
};

BOOST_FIXTURE_TEST_CASE(a_process_that_has_not_said_which_it_is_lives, Run) {
  TreeWatch watch(arena, [](ThreadId) { return false; });
  BOOST_TEST(!watch.look({}));
  BOOST_TEST(arena.state().processes[0].alive == 1);
  BOOST_TEST(arena.state().holder.load() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_running_process_lives, Run) {
  arena.state().processes[0].real_pid = getpid();
  TreeWatch watch(arena, [](ThreadId) { return false; });
  BOOST_TEST(!watch.look({}));
  BOOST_TEST(arena.state().processes[0].alive == 1);
}

BOOST_FIXTURE_TEST_CASE(a_dead_holder_gives_the_baton_back, Run) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  arena.state().processes[0].real_pid = child;
  TreeWatch watch(arena, [](ThreadId) { return true; });
  BOOST_TEST(watch.look({}));
  BOOST_TEST(arena.state().processes[0].alive == 0);
  BOOST_TEST(arena.state().holder.load() == 0u);
}

// The holder died while it was creating a process. The new process's thread exists, and process_count may include the
// new process or not.
BOOST_FIXTURE_TEST_CASE(a_process_that_nobody_announced_is_forgotten, Run) {
  for (const std::uint32_t counted : {1u, 2u}) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    RuntimeState& state = arena.state();
    state.processes[0].real_pid = child;
    if (counted == 2) begin(state);  // the first round has ended both
    state.processes[1].index = state.processes[1].memory_of = state.threads[1].process = 1;
    state.processes[1].alive = 1;  // a copy of its parent's entry
    if (counted == 2) mark_alive(state, 1);
    state.process_count = counted;
    state.thread_count = 2;
    state.threads[1].id = 1;
    state.live.add(1);  // it is in no list yet
    state.holder.store(1);
    const std::uint64_t published = arena.header().out.head.load();
    TreeWatch watch(arena, [](ThreadId thread) { return thread == 0; });
    BOOST_TEST(watch.look({}));
    BOOST_TEST(state.processes[1].alive == 0);
    BOOST_TEST(state.live_threads == 0u);
    BOOST_TEST(arena.header().out.head.load() - published == sizeof(wire::ProcessExitRecord));
  }
}

}  // namespace
}  // namespace reweave

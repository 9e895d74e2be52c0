// Whom the supervisor takes for dead.
#define BOOST_TEST_MODULE tree_watch
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "recorder/supervisor/tree_watch.h"

namespace reweave {
namespace {

// A run of one process that has the baton.
struct Run {
  Run() {
    RuntimeState& state = arena.state();
    state.process_count = state.live_processes = 1;
    state.processes[0].alive = 1;
    state.thread_count = state.live_threads = 1;
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

}  // namespace
}  // namespace reweave

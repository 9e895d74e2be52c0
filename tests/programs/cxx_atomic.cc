// Admission control with an atomic counter that is loaded and incremented in two steps.
//
// Bug: `if (count.load() < limit) count.fetch_add(1)`: each step is atomic, the decision is not.
// Shown by: two threads load the same count. One preemption.
// Idea: ours; a program with no data race at all, so that a race detector alone finds nothing.
// Expected: assertion on the number admitted (SIGABRT).
// Arguments: threads (2).
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static constexpr int kLimit = 1;
static std::atomic<int> admitted{0};

static void enter() {
  if (admitted.load() < kLimit) {
    int now = admitted.fetch_add(1) + 1;
    assert(now <= kLimit && "more were admitted than allowed");
    (void)now;
  }
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; i++) all.emplace_back(enter);
  for (auto& t : all) t.join();
  std::printf("admitted %d\n", admitted.load());
  return 0;
}

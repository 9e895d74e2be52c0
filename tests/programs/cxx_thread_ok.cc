// Correct twin of cxx_thread: the flag is set under the lock and the wait has a predicate.
// Expected: passes under every schedule.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool ready = false;
static int result;

int main() {
  std::thread worker([] {
    std::lock_guard<std::mutex> hold(lock);
    result = 42;
    ready = true;
    changed.notify_one();
  });
  {
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, [] { return ready; });
  }
  std::printf("result %d\n", result);
  worker.join();
  return result == 42 ? 0 : 1;
}

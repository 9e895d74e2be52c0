// std::thread and std::condition_variable with a wait that has no predicate.
//
// Bug: the consumer checks the flag without the lock and then waits without checking again.
// Shown by: the worker stores the flag and notifies between the check and the wait. One preemption.
// Idea: lost_notify, in the form that C++ programs have.
// Expected: deadlock: the main thread waits forever.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static std::atomic<bool> ready{false};
static int result;

int main() {
  std::thread worker([] {
    result = 42;
    ready = true;
    changed.notify_one();
  });
  if (!ready) {
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold);
  }
  std::printf("result %d\n", result);
  worker.join();
  return 0;
}

// Tasks count themselves, when they begin. wait() may find none and return before they have begun; then the group is
// gone when they do.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class TaskGroup {
 public:
  void begin() {
    std::lock_guard<std::mutex> hold(mutex_);  //!
    running_++;
  }
  void end() {
    std::lock_guard<std::mutex> hold(mutex_);
    if (--running_ == 0) idle_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);           //?
    idle_.wait(lock, [this] { return running_ == 0; });  //?
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  int running_ = 0;
};

static void work(TaskGroup* group, int* sum) {
  group->begin();  //?
  *sum += 1;
  group->end();
}

int main() {
  int sums[2] = {0, 0};
  auto group = std::make_unique<TaskGroup>();  //?
  std::vector<std::thread> threads;
  for (int& sum : sums) threads.emplace_back(work, group.get(), &sum);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  group->wait();  //?
  group.reset();  //!
  for (std::thread& thread : threads) thread.join();
}

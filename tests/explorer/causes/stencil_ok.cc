// Each worker writes its cell before it enters the barrier.
#include <array>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class Barrier {
 public:
  explicit Barrier(int parties) : parties_(parties) {}
  void arrive_and_wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int phase = phase_;
    if (++arrived_ == parties_) {
      arrived_ = 0;
      phase_++;
      all_.notify_all();
      return;
    }
    all_.wait(lock, [&] { return phase_ != phase; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  const int parties_;
  int arrived_ = 0, phase_ = 0;
};

class Stencil {
 public:
  void step(int i) {
    const int next = cells_[i] + 1;
    cells_[i] = next;
    barrier_.arrive_and_wait();
    sums_[i] = cells_[i] + cells_[1 - i];
  }
  int sum(int i) const { return sums_[i]; }

 private:
  Barrier barrier_{2};
  std::array<std::atomic<int>, 2> cells_{};
  std::array<int, 2> sums_{};
};

int main() {
  Stencil stencil;
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; i++) workers.emplace_back([&stencil, i] { stencil.step(i); });
  for (std::thread& worker : workers) worker.join();
  assert(stencil.sum(0) == 2);
}

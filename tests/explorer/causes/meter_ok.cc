// The sum and the count are changed and read under one lock.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Meter {
 public:
  void add(long sample) {
    std::lock_guard<std::mutex> hold(mutex_);
    sum_.fetch_add(sample);
    count_.fetch_add(1);
  }
  long mean() const {
    std::lock_guard<std::mutex> hold(mutex_);
    const long count = count_.load();
    return count == 0 ? 0 : sum_.load() / count;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<long> sum_{0}, count_{0};
};

int main() {
  Meter meter;
  meter.add(10);
  long mean = 10;
  std::thread sensor([&] {
    for (int i = 0; i < 3; i++) meter.add(10);
  });
  std::thread display([&] { mean = meter.mean(); });
  sensor.join();
  display.join();
  assert(mean == 10);
}

// A free list of indices under a lock.
#include <array>
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

template <int N>
class IndexPool {
 public:
  IndexPool() {
    for (int i = 0; i < N; i++) next_[i] = i + 1;
  }
  int pop() {
    std::lock_guard<std::mutex> hold(mutex_);
    int top = top_.load();
    while (top != N) {
      const int next = next_[top].load();
      if (top_.compare_exchange_strong(top, next)) return top;
    }
    return -1;
  }
  void push(int index) {
    std::lock_guard<std::mutex> hold(mutex_);
    int top = top_.load();
    do {
      next_[index] = top;
    } while (!top_.compare_exchange_strong(top, index));
  }

 private:
  std::mutex mutex_;
  std::atomic<int> top_{0};
  std::array<std::atomic<int>, N> next_;
};

int main() {
  IndexPool<3> pool;
  std::array<std::atomic<int>, 3> users{};
  auto use = [&](int index) {
    if (index >= 0) assert(users[index].fetch_add(1) == 0);
  };
  std::thread one([&] { use(pool.pop()); });
  std::thread two([&] {
    const int first = pool.pop(), second = pool.pop();
    pool.push(first);
    use(second);
  });
  one.join();
  two.join();
  use(pool.pop());
}

// The worker uses the caller's latch for the last time when it sets the flag.
#include <atomic>
#include <cassert>
#include <cstring>
#include <thread>

struct Latch {
  std::atomic<bool> open{false};
  std::atomic<int> wakeups{0};
  void release() {
    wakeups++;
    open = true;
  }
  void wait() {
    while (!open) std::this_thread::yield();
  }
};

static std::thread start(Latch* latch) {
  return std::thread([latch] { latch->release(); });
}

__attribute__((noinline)) static std::thread request() {
  Latch latch;
  std::thread worker = start(&latch);
  latch.wait();
  return worker;
}

__attribute__((noinline)) static int checksum() {
  std::atomic<int> table[64];
  for (std::atomic<int>& entry : table) entry = 1;
  int sum = 0;
  for (std::atomic<int>& entry : table) sum += entry;
  return sum;
}

int main() {
  std::thread worker = request();
  const int sum = checksum();
  worker.join();
  assert(sum == 64);
}

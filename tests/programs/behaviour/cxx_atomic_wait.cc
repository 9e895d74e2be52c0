// std::atomic wait and notify, latch, barrier and counting_semaphore of C++20.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

int main() {
  std::atomic<int> turn{0};
  std::latch started(3);
  std::counting_semaphore<8> room(2);
  int completed = 0;
  std::barrier all(3, [&]() noexcept { completed++; });
  std::vector<std::thread> threads;
  for (int me = 0; me < 3; me++) {
    threads.emplace_back([&, me] {
      started.count_down();
      for (int round = 0; round < 3; round++) {
        for (int seen = turn; seen % 3 != me; seen = turn) turn.wait(seen);
        std::printf("turn %d: thread %d\n", turn.load(), me);
        turn++;
        turn.notify_all();
      }
      room.acquire();
      std::printf("thread %d in the room\n", me);
      room.release();
      all.arrive_and_wait();
    });
  }
  started.wait();
  std::printf("all have started\n");
  for (auto& t : threads) t.join();
  std::printf("barrier completed %d\n", completed);
}

// A wake-up is lost: the flag is set without the lock, between the waiter's test and its wait.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
class Gate {
 public:
  void wait() {
    std::unique_lock<std::mutex> hold(mutex_);
    if (!open_.load())     //!
      opened_.wait(hold);  //!
  }
  void open() {
    open_ = true;          //!
    opened_.notify_all();  //!
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  std::atomic<bool> open_{false};
};
int main() {
  Gate gate;
  std::thread waiter([&] { gate.wait(); }), opener([&] { gate.open(); });
  waiter.join();
  opener.join();
}

// The flag that ends the ticker is set under its lock.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

class Ticker {
 public:
  Ticker() : thread_([this] { run(); }) {}
  ~Ticker() {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_) wake_.wait(lock);
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

int main() { Ticker ticker; }

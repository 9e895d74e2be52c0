// The flag that ends the ticker is set without its lock, so the notification may come between its test and its wait.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

class Ticker {
 public:
  Ticker() : thread_([this] { run(); }) {}
  ~Ticker() {
    stopping_ = true;    //!
    wake_.notify_all();  //?
    thread_.join();      //?
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);  //?
    while (!stopping_) wake_.wait(lock);        //!
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

int main() { Ticker ticker; }

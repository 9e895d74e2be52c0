// The constructor starts the thread before it sets the interval that the thread reads.
#include <atomic>
#include <cassert>
#include <thread>

class Poller {
 public:
  explicit Poller(int interval) {
    thread_ = std::thread([this] { poll(); });
    interval_ = interval;  //!
  }
  ~Poller() { thread_.join(); }

 private:
  void poll() {
    const int interval = interval_;  //!
    assert(interval > 0);
  }

  std::atomic<int> interval_{0};
  std::thread thread_;
};

int main() { Poller poller(20); }  //?

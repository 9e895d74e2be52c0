// The constructor sets the interval before it starts the thread that reads it.
#include <atomic>
#include <cassert>
#include <thread>

class Poller {
 public:
  explicit Poller(int interval) {
    interval_ = interval;
    thread_ = std::thread([this] { poll(); });
  }
  ~Poller() { thread_.join(); }

 private:
  void poll() {
    const int interval = interval_;
    assert(interval > 0);
  }

  std::atomic<int> interval_{0};
  std::thread thread_;
};

int main() { Poller poller(20); }

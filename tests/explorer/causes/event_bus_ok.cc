// The flag is tested and set under the lock of the list.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

struct Listener {
  bool told = false;
};

class Bus {
 public:
  bool subscribe(Listener* listener) {
    std::lock_guard<std::mutex> hold(mutex_);
    if (closed_) return false;
    listeners_.push_back(listener);
    return true;
  }
  void close() {
    std::lock_guard<std::mutex> hold(mutex_);
    closed_ = true;
    for (Listener* listener : listeners_) listener->told = true;
  }

 private:
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::vector<Listener*> listeners_;
};

int main() {
  Bus bus;
  Listener listener;
  bool subscribed = false;
  std::thread client([&] { subscribed = bus.subscribe(&listener); });
  std::thread server([&] { bus.close(); });
  client.join();
  server.join();
  assert(!subscribed || listener.told);
}

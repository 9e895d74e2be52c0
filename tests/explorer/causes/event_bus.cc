// A listener tests the flag before it is set, and enters itself after close() has walked the list. Nobody tells it.
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
    if (closed_) return false;                 //!
    std::lock_guard<std::mutex> hold(mutex_);  //?
    listeners_.push_back(listener);            //!
    return true;
  }
  void close() {
    closed_ = true;                                               //!
    std::lock_guard<std::mutex> hold(mutex_);                     //?
    for (Listener* listener : listeners_) listener->told = true;  //!
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

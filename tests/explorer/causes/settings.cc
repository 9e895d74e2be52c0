// Double-checked initialisation: the flag is set before the values are there.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Settings {
 public:
  int limit() {
    load();
    return limit_;  //!
  }

 private:
  void load() {
    if (loaded_.load()) return;  //!
    std::lock_guard<std::mutex> hold(mutex_);
    if (loaded_.load()) return;  //?
    loaded_.store(true);         //!
    limit_ = 16;                 //!
  }
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  std::atomic<int> limit_{0};
};

static Settings settings;

int main() {
  int limits[2];
  std::thread one([&] { limits[0] = settings.limit(); }), two([&] { limits[1] = settings.limit(); });
  one.join();
  two.join();
  assert(limits[0] == 16 && limits[1] == 16);
}

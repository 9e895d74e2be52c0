// A cache keeps an old value: it is filled from a read that came before the update, after the update had cleared it.
#include <cassert>
#include <mutex>
#include <thread>
class Store {
 public:
  int get() {
    {
      std::lock_guard<std::mutex> hold(cache_mutex_);
      if (cached_ >= 0) return cached_;
    }
    int value;
    {
      std::lock_guard<std::mutex> hold(value_mutex_);
      value = value_;  //!
    }
    std::lock_guard<std::mutex> hold(cache_mutex_);
    return cached_ = value;  //!
  }
  void set(int value) {
    {
      std::lock_guard<std::mutex> hold(value_mutex_);
      value_ = value;  //!
    }
    std::lock_guard<std::mutex> hold(cache_mutex_);
    cached_ = -1;  //!
  }

 private:
  std::mutex value_mutex_, cache_mutex_;
  int value_ = 1, cached_ = -1;
};
int main() {
  Store store;
  std::thread reader([&] { store.get(); }), writer([&] { store.set(2); });
  reader.join();
  writer.join();
  assert(store.get() == 2);
}

// Width and height belong together: both are read and written under one lock.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

template <class T>
class Property {
 public:
  explicit Property(T value) : value_(value) {}
  void set(T value) { value_.store(value, std::memory_order_release); }
  T get() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<T> value_;
};

class Viewport {
 public:
  void rotate() {
    std::lock_guard hold(mutex_);
    const int width = width_.get(), height = height_.get();
    width_.set(height);
    height_.set(width);
  }
  int area() const {
    std::lock_guard hold(mutex_);
    const int width = width_.get();
    return width * height_.get();
  }

 private:
  mutable std::mutex mutex_;
  Property<int> width_{640}, height_{480};
};

int main() {
  Viewport viewport;
  int area = 0;
  std::thread painter([&] { area = viewport.area(); });
  std::thread sensor([&] { viewport.rotate(); });
  painter.join();
  sensor.join();
  assert(area == 640 * 480);
}

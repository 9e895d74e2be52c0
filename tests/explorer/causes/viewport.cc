// Width and height belong together: the painter may see the new width with the old height.
#include <atomic>
#include <cassert>
#include <thread>

template <class T>
class Property {
 public:
  explicit Property(T value) : value_(value) {}
  void set(T value) { value_.store(value, std::memory_order_release); }  //?
  T get() const { return value_.load(std::memory_order_acquire); }       //?

 private:
  std::atomic<T> value_;
};

class Viewport {
 public:
  void rotate() {
    const int width = width_.get(), height = height_.get();
    width_.set(height);  //!
    height_.set(width);  //!
  }
  int area() const {
    const int width = width_.get();  //!
    return width * height_.get();    //!
  }

 private:
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

// Two variables are updated one after the other, and read one after the other: a reader sees them half updated.
#include <cassert>
#include <mutex>
#include <thread>
class Range {
 public:
  void move(int by) {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      low_ += by;  //!
    }
    std::lock_guard<std::mutex> hold(mutex_);
    high_ += by;  //!
  }
  int width() {
    int low, high;
    {
      std::lock_guard<std::mutex> hold(mutex_);
      low = low_;  //!
    }
    std::lock_guard<std::mutex> hold(mutex_);
    high = high_;  //!
    return high - low;
  }

 private:
  std::mutex mutex_;
  int low_ = 0, high_ = 10;
};
int main() {
  Range range;
  std::thread mover([&] {
    for (int i = 0; i < 3; i++) range.move(5);
  });
  std::thread reader([&] {
    for (int i = 0; i < 3; i++) assert(range.width() == 10);
  });
  mover.join();
  reader.join();
}

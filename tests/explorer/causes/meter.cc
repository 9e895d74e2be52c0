// A sample changes the sum and the count one after the other. The mean is wrong if it is computed in between.
#include <atomic>
#include <cassert>
#include <thread>

class Meter {
 public:
  void add(long sample) {
    sum_.fetch_add(sample);  //!
    count_.fetch_add(1);     //!
  }
  long mean() const {
    const long count = count_.load();             //!
    return count == 0 ? 0 : sum_.load() / count;  //!
  }

 private:
  std::atomic<long> sum_{0}, count_{0};
};

int main() {
  Meter meter;
  meter.add(10);  //?
  long mean = 10;
  std::thread sensor([&] {
    for (int i = 0; i < 3; i++) meter.add(10);  //?
  });
  std::thread display([&] { mean = meter.mean(); });  //?
  sensor.join();
  display.join();
  assert(mean == 10);
}

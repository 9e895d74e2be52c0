// A flag is set before the data that it announces.
#include <atomic>
#include <cassert>
#include <thread>
struct Box {
  std::atomic<int> ready{0}, data{0};
};
int main() {
  Box box;
  std::thread writer([&] {
    box.ready = 1;  //?
    box.data = 5;   //!
  });
  std::thread reader([&] {
    if (box.ready.load())            //?
      assert(box.data.load() == 5);  //!
  });
  writer.join();
  reader.join();
}

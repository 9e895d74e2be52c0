// An uncaught exception.
//
// Bug: the reader asks for the size and then for the last element, and the writer clears the list in between.
// Shown by: the writer runs between the two.
// Idea: check-then-act on a container with locked operations, which throws instead of corrupting.
// Expected: terminate with std::out_of_range (SIGABRT).
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class LockedList {
 public:
  void add(int value) {
    std::lock_guard<std::mutex> guard(lock_);
    values_.push_back(value);
  }
  void clear() {
    std::lock_guard<std::mutex> guard(lock_);
    values_.clear();
  }
  std::size_t size() {
    std::lock_guard<std::mutex> guard(lock_);
    return values_.size();
  }
  int at(std::size_t index) {
    std::lock_guard<std::mutex> guard(lock_);
    return values_.at(index);
  }

 private:
  std::mutex lock_;
  std::vector<int> values_;
};

int main() {
  LockedList list;
  list.add(1);
  list.add(2);
  std::thread writer([&] { list.clear(); });
  const std::size_t size = list.size();
  if (size > 0) std::printf("last %d\n", list.at(size - 1));
  writer.join();
  return 0;
}

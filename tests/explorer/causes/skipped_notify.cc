// A producer wakes a consumer only if the queue was empty: two items, two waiting consumers, one wake-up.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
class Queue {
 public:
  void put(int item) {
    std::lock_guard<std::mutex> hold(mutex_);
    const bool was_empty = items_.empty();  //?
    items_.push_back(item);                 //!
    if (was_empty) filled_.notify_one();    //?
  }
  int take() {
    std::unique_lock<std::mutex> hold(mutex_);  //?
    while (items_.empty()) filled_.wait(hold);  //!
    const int item = items_.front();
    items_.pop_front();  //?
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<int> items_;
};
int main() {
  Queue queue;
  std::thread one([&] { queue.take(); }), two([&] { queue.take(); });
  queue.put(1);
  queue.put(2);
  one.join();
  two.join();
}

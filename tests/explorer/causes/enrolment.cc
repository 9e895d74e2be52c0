// Two orders are needed: the flag is read before it is set, and the enrolment comes after the walk of the list.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
class Service {
 public:
  void work() {
    if (stopped_.load()) return;  //!
    Waiter self;
    {
      std::lock_guard<std::mutex> hold(list_mutex_);
      waiters_.push_back(&self);  //!
    }
    std::unique_lock<std::mutex> hold(self.mutex);
    while (!self.woken) self.changed.wait(hold);
  }
  void stop() {
    stopped_ = true;  //!
    std::lock_guard<std::mutex> hold(list_mutex_);
    for (Waiter* waiter : waiters_) {  //!
      std::lock_guard<std::mutex> wake(waiter->mutex);
      waiter->woken = true;
      waiter->changed.notify_all();
    }
  }

 private:
  struct Waiter {
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
  };
  std::mutex list_mutex_;
  std::vector<Waiter*> waiters_;
  std::atomic<bool> stopped_{false};
};
int main() {
  Service service;
  std::thread worker([&] { service.work(); });
  service.stop();
  worker.join();
}

// The worker notifies under the lock: it is the worker's last use of the download.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

class Download {
 public:
  void finish() {
    std::lock_guard<std::mutex> hold(mutex_);
    done_ = true;
    ready_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!done_) ready_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  bool done_ = false;
};

int main() {
  auto download = std::make_unique<Download>();
  std::thread worker(&Download::finish, download.get());
  download->wait();
  download.reset();
  worker.join();
}

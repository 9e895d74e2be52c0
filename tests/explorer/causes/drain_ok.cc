// A request counts itself off under the lock of the one who waits.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

class Server {
 public:
  void begin() { active_.fetch_add(1); }
  void end() {
    std::lock_guard<std::mutex> hold(mutex_);
    const int before = active_.fetch_sub(1);
    if (before == 1) idle_.notify_all();
  }
  void drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return active_.load() == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::atomic<int> active_{0};
};

int main() {
  Server server;
  server.begin();
  std::thread request([&] { server.end(); });
  server.drain();
  request.join();
}

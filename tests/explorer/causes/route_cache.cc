// find() gives out a plain pointer. Another thread may erase the route while it is used.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct Route {
  explicit Route(int hops) : hops(hops) {}
  std::atomic<int> hops;
  std::atomic<int> hits{0};
};

class RouteCache {
 public:
  void add(const std::string& name, int hops) {
    std::lock_guard<std::mutex> hold(mutex_);
    routes_[name] = std::make_shared<Route>(hops);  //?
  }
  void erase(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);  //?
    routes_.erase(name);                       //!
  }
  Route* find(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);  //?
    auto found = routes_.find(name);
    return found == routes_.end() ? nullptr : found->second.get();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Route>> routes_;
};

int main() {
  RouteCache cache;
  cache.add("berlin", 4);
  std::thread traffic([&] {
    if (Route* route = cache.find("berlin")) route->hits++;  //!
  });
  std::thread expiry([&] { cache.erase("berlin"); });  //?
  traffic.join();
  expiry.join();
}

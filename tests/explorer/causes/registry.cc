// Check, then act: two threads find no entry and both make one.
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>
class Registry {
 public:
  int id_of(const std::string& name) {
    if (!has(name)) add(name);
    std::lock_guard<std::mutex> hold(mutex_);
    return ids_.at(name);
  }
  int made() const { return made_; }

 private:
  bool has(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);  //?
    return ids_.count(name) != 0;              //?
  }
  void add(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);  //?
    ids_[name] = ++made_;                      //?
  }
  std::mutex mutex_;
  std::map<std::string, int> ids_;
  int made_ = 0;
};
int main() {
  Registry registry;
  std::thread one([&] { registry.id_of("a"); }), two([&] { registry.id_of("a"); });  //?
  one.join();
  two.join();
  assert(registry.made() == 1);
}

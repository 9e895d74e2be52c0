// Three components call each other with their own lock held: catalog, index, journal, catalog.
#include <mutex>
#include <string>
#include <thread>

class Component {
 public:
  void touch() {
    std::lock_guard<std::mutex> hold(mutex_);  //!
    uses_++;
  }
  void touch_with(Component& other) {
    std::lock_guard<std::mutex> hold(mutex_);  //!
    uses_++;
    other.touch();  //?
  }

 private:
  std::mutex mutex_;
  int uses_ = 0;
};

int main() {
  Component catalog, index, journal;
  std::thread search([&] { catalog.touch_with(index); });   //?
  std::thread rebuild([&] { index.touch_with(journal); });  //?
  std::thread flush([&] { journal.touch_with(catalog); });  //?
  search.join();
  rebuild.join();
  flush.join();
}

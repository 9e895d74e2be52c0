// get() looks for an image and stores it in one critical section.
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct Image {
  explicit Image(const std::string& name) : name(name) {}
  const std::string name;
};

class ImageCache {
 public:
  std::shared_ptr<Image> get(const std::string& name) {
    std::lock_guard<std::mutex> hold(mutex_);
    const auto found = images_.find(name);
    if (found != images_.end()) return found->second;
    auto image = std::make_shared<Image>(name);
    images_[name] = image;
    return image;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Image>> images_;
};

int main() {
  ImageCache cache;
  std::shared_ptr<Image> icons[2];
  std::thread menu([&] { icons[0] = cache.get("open"); });
  std::thread toolbar([&] { icons[1] = cache.get("open"); });
  menu.join();
  toolbar.join();
  assert(icons[0] == icons[1]);
}

// withdraw() tests and takes in one critical section.
#include <cassert>
#include <mutex>
#include <thread>

class Wallet {
 public:
  bool withdraw(int amount) {
    std::lock_guard<std::mutex> hold(mutex_);
    if (cents_ < amount) return false;
    cents_ -= amount;
    return true;
  }
  int available() const {
    std::lock_guard<std::mutex> hold(mutex_);
    return cents_;
  }

 private:
  mutable std::mutex mutex_;
  int cents_ = 100;
};

int main() {
  Wallet wallet;
  std::thread rent([&] { wallet.withdraw(80); });
  std::thread shopping([&] { wallet.withdraw(60); });
  rent.join();
  shopping.join();
  assert(wallet.available() >= 0);
}

// withdraw() tests and takes in two critical sections.
#include <cassert>
#include <mutex>
#include <thread>

class Wallet {
 public:
  bool withdraw(int amount) {
    if (available() < amount) return false;  //?
    take(amount);                            //?
    return true;
  }
  int available() const {
    std::lock_guard<std::mutex> hold(mutex_);  //!
    return cents_;                             //?
  }

 private:
  void take(int amount) {
    std::lock_guard<std::mutex> hold(mutex_);  //!
    cents_ -= amount;                          //?
  }
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

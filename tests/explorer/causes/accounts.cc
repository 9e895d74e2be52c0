// The sum of two accounts is read in the middle of a transfer.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
struct Account {
  std::mutex mutex;
  int balance = 50;
  int get() {
    std::lock_guard<std::mutex> hold(mutex);
    return balance;  //!
  }
  void add(int amount) {
    std::lock_guard<std::mutex> hold(mutex);
    balance += amount;  //!
  }
};
int main() {
  Account from, to;
  std::thread transfer([&] {
    from.add(-10);  //?
    to.add(10);     //?
  });
  int sum = 0;
  std::thread audit([&] {
    sum = to.get();     //?
    sum += from.get();  //?
  });
  transfer.join();
  audit.join();
  if (sum != 100) {
    std::fprintf(stderr, "the sum is %d\n", sum);
    std::exit(1);
  }
}

// Two transfers in opposite directions take the locks of the two accounts in opposite orders.
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  long cents = 1000;
};

class Ledger {
 public:
  void pay_rent(long cents) {
    std::lock_guard<std::mutex> from(giro_.mutex);    //!
    std::lock_guard<std::mutex> to(landlord_.mutex);  //!
    giro_.cents -= cents;
    landlord_.cents += cents;
  }
  void refund(long cents) {
    std::lock_guard<std::mutex> from(landlord_.mutex);  //!
    std::lock_guard<std::mutex> to(giro_.mutex);        //!
    landlord_.cents -= cents;
    giro_.cents += cents;
  }

 private:
  Account giro_, landlord_;
};

int main() {
  Ledger ledger;
  std::thread tenant([&] { ledger.pay_rent(700); });
  std::thread agent([&] { ledger.refund(50); });
  tenant.join();
  agent.join();
}

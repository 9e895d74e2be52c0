// A shared_ptr is copied by one thread while another assigns it; the pointer itself is not protected.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

struct Table {
  explicit Table(int rows) : rows(rows) {}
  std::vector<int> rows_of;
  std::atomic<int> rows;
};

class Store {  //?
 public:
  std::shared_ptr<Table> snapshot() const { return table_; }          //?
  void publish(int rows) { table_ = std::make_shared<Table>(rows); }  //!

 private:
  std::shared_ptr<Table> table_ = std::make_shared<Table>(1);  //?
};

static int count(const Store& store) { return store.snapshot()->rows; }  //?

int main() {
  Store store;
  std::thread reader([&] { count(store); });
  std::thread writer([&] { store.publish(2); });
  reader.join();
  writer.join();
}

// A shared_ptr is copied and assigned by atomic operations.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

struct Table {
  explicit Table(int rows) : rows(rows) {}
  std::vector<int> rows_of;
  std::atomic<int> rows;
};

class Store {
 public:
  std::shared_ptr<Table> snapshot() const { return std::atomic_load(&table_); }
  void publish(int rows) { std::atomic_store(&table_, std::make_shared<Table>(rows)); }

 private:
  std::shared_ptr<Table> table_ = std::make_shared<Table>(1);
};

static int count(const Store& store) { return store.snapshot()->rows; }

int main() {
  Store store;
  std::thread reader([&] { count(store); });
  std::thread writer([&] { store.publish(2); });
  reader.join();
  writer.join();
}

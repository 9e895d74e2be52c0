// Three threads take three locks in a circle.
#include <mutex>
#include <thread>
#include <vector>
struct Table {
  std::mutex forks[3];
  int meals = 0;
};
static void eat(Table& table, int seat) {
  std::lock_guard<std::mutex> left(table.forks[seat]);             //!
  std::lock_guard<std::mutex> right(table.forks[(seat + 1) % 3]);  //!
  table.meals++;
}
int main() {
  Table table;
  std::vector<std::thread> threads;
  for (int seat = 0; seat < 3; seat++) threads.emplace_back([&table, seat] { eat(table, seat); });
  for (std::thread& thread : threads) thread.join();
}

// Exceptions, containers and overloads.
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

struct Base {
  virtual ~Base() = default;
  virtual int price() const { return 1; }
};
struct Cake : Base {
  explicit Cake(int cost) : cost_(cost) {}
  int price() const override { return cost_; }
  int cost_;
};

int sum(int a, int b) { return a + b; }
double sum(double a, double b) { return a + b; }

template <typename T>
T larger(T a, T b) {
  return a < b ? b : a;
}

int fail(int depth) {
  if (depth == 0) throw std::runtime_error("out of cake");
  std::string kept = "kept";
  return fail(depth - 1) + static_cast<int>(kept.size());
}

int careful() {
  try {
    return fail(2);
  } catch (const std::exception&) {
    throw;
  }
}

}  // namespace shop

int main() {
  std::vector<int> numbers = {1, 2, 3};
  std::map<std::string, int> ages = {{"ann", 7}, {"bob", 9}};
  std::unique_ptr<shop::Base> sweet = std::make_unique<shop::Cake>(12);
  int caught = 0;
  try {
    shop::careful();
  } catch (const std::runtime_error& error) {
    caught = 1;
  }
  int price = sweet->price();
  price += shop::sum(1, 2);
  double exact = shop::sum(0.5, 1.0);
  numbers.push_back(shop::larger(price, 4));
  auto add = [&numbers](int value) { numbers.push_back(value); };
  add(5);
  return caught == 1 && exact == 1.5 && numbers.size() == 5 && ages["ann"] == 7 ? 0 : 1;
}

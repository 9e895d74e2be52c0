// Correct twin of cxx_async: each task returns its own vector and the main thread joins them.
// Expected: passes under every schedule. Arguments: elements per task (2).
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

static std::vector<int> search(int first, int count) {
  std::vector<int> found;
  for (int i = 0; i < count; i++) found.push_back(first + i);
  return found;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 2;
  auto low = std::async(std::launch::async, search, 0, count);
  auto high = std::async(std::launch::async, search, 1000, count);
  std::vector<int> found = low.get();
  for (int value : high.get()) found.push_back(value);
  if (static_cast<int>(found.size()) != 2 * count) return 1;
  std::printf("found %zu, the first is %d\n", found.size(), found.front());
  return 0;
}

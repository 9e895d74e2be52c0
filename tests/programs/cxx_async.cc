// Two std::async tasks that append to one std::vector.
//
// Bug: the vector is shared and unprotected.
// Shown by: both tasks read the same end of the vector. One preemption inside of push_back.
// Idea: ours, the most common mistake with std::async.
// Expected: message and exit status 1 (an element is missing). Room is reserved, so the heap stays sound.
// Arguments: elements per task (2, at most 256).
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

static std::vector<int> found;

static int search(int first, int count) {
  for (int i = 0; i < count; i++) found.push_back(first + i);
  return count;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 2;
  if (count > 256) return 2;
  found.reserve(512);
  auto low = std::async(std::launch::async, search, 0, count);
  auto high = std::async(std::launch::async, search, 1000, count);
  int expected = low.get() + high.get();
  if (static_cast<int>(found.size()) != expected) {
    std::fprintf(stderr, "found %zu of %d\n", found.size(), expected);
    return 1;
  }
  std::printf("found %d, the first is %d\n", expected, found.front());
  return 0;
}

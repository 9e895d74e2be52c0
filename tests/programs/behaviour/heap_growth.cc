// Blocks that grow, move and are freed by several threads, small ones and ones that are mappings of their own. Traced
// too: the heap of a trace must be the heap that was recorded.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

static unsigned long grow(unsigned long seed) {
  unsigned long sum = 0;
  char* block = nullptr;
  std::vector<std::string> kept;
  for (std::size_t bytes = 16; bytes < 3'000'000; bytes = bytes * 3 / 2 + seed) {
    block = static_cast<char*>(std::realloc(block, bytes));
    std::memset(block + bytes / 2, static_cast<int>(bytes), bytes - bytes / 2);
    kept.emplace_back(bytes % 1000, 'x');
    if (kept.size() > 5) kept.erase(kept.begin());
    sum = sum * 31 + static_cast<unsigned char>(block[bytes / 2]);
  }
  for (std::size_t bytes = 2'000'000; bytes > 16; bytes /= 3) block = static_cast<char*>(std::realloc(block, bytes));
  std::free(block);
  return sum;
}

int main() {
  std::vector<std::thread> threads;
  unsigned long sums[3] = {};
  for (unsigned long i = 0; i < 3; i++) threads.emplace_back([i, &sums] { sums[i] = grow(i); });
  for (std::thread& thread : threads) thread.join();
  for (unsigned long sum : sums) std::printf("%lu\n", sum);
}

// Replaces only the basic operators new and delete. The C++ library's other forms call these, so every block that one
// form allocates is released by the other, and no block is left.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kHeader = 16;
constexpr std::uint64_t kMark = 0xfeedface;
std::uint64_t living = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  auto* head = static_cast<std::uint64_t*>(std::malloc(bytes + kHeader));
  if (head == nullptr) throw std::bad_alloc();
  *head = kMark;
  __atomic_add_fetch(&living, 1, __ATOMIC_SEQ_CST);
  return reinterpret_cast<char*>(head) + kHeader;
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  auto* head = reinterpret_cast<std::uint64_t*>(static_cast<char*>(block) - kHeader);
  if (*head != kMark) {
    std::puts("a block that operator new did not give");
    std::_Exit(1);
  }
  __atomic_sub_fetch(&living, 1, __ATOMIC_SEQ_CST);
  std::free(head);
}

struct Part {
  double values[9] = {};
  ~Part() { values[0] = 1; }
};

static void use_all() {
  delete new int(3);
  delete[] new int[100];
  delete new Part;
  delete[] new Part[4];
  delete[] new (std::nothrow) int[10];
  ::operator delete(::operator new(5), std::nothrow);
  std::vector<std::string> words(100, std::string(100, 'x'));
}

int main() {
  const std::uint64_t before = living;
  std::thread other(use_all);
  use_all();
  other.join();
  std::printf("%lu left\n", static_cast<unsigned long>(living - before));
  return living == before ? 0 : 1;
}

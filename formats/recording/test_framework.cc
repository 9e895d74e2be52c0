#include "formats/recording/test_framework.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/base/fd.h"
#include "formats/base/folder.h"

namespace reweave {

namespace {

// Marks are names of libraries, of exported functions, or parts of help texts.
constexpr TestFramework kFrameworks[] = {
    {"GoogleTest", "libgtest.so", "--gtest_filter=", "--gtest_list_tests", ""},
    {"GoogleTest", "--gtest_filter=", "--gtest_filter=", "--gtest_list_tests", ""},
    {"Boost.Test", "libboost_unit_test_framework", "--run_test=", "", "no test cases matching filter"},
    {"Boost.Test", "BOOST_TEST_RUN_FILTERS", "--run_test=", "", "no test cases matching filter"},
    {"doctest", "DOCTEST_CONFIG_", "--test-case=", "", ""},
    {"Catch2", "Catch::TestCase", "", "", ""},
    {"Catch2", "_ZN5Catch7Session", "", "", ""},
};
constexpr std::size_t kLongestMark = 64;

}  // namespace

const TestFramework* framework_of(const std::string& path) {
  const Fd file = try_open_regular(path);
  if (file.get() < 0) return nullptr;
  std::vector<char> block(1 << 20);
  bool seen[std::size(kFrameworks)] = {};
  std::size_t kept = 0;  // bytes kept of the previous block, so that no mark is split
  for (ssize_t n = 0; (n = read(file.get(), block.data() + kept, block.size() - kept)) > 0;) {
    const std::size_t size = kept + static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < std::size(kFrameworks); i++) {
      const std::string_view mark = kFrameworks[i].mark;
      seen[i] = seen[i] || memmem(block.data(), size, mark.data(), mark.size()) != nullptr;
    }
    kept = std::min(size, kLongestMark);
    std::memmove(block.data(), block.data() + size - kept, kept);
  }
  const auto* const first = std::find(std::begin(seen), std::end(seen), true);
  return first == std::end(seen) ? nullptr : &kFrameworks[first - std::begin(seen)];
}

std::string known_frameworks() {
  std::string names;
  std::string_view last;
  for (const TestFramework& row : kFrameworks) {
    if (last == row.name) continue;
    last = row.name;
    names += (names.empty() ? "" : ", ") + std::string(last);
  }
  return names;
}

}  // namespace reweave

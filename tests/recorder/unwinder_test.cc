// Unwinds this process itself from outside and compares the result with the compiler's unwinder.
#define BOOST_TEST_MODULE unwinder
#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "recorder/supervisor/target/unwinder.h"

namespace reweave {
namespace {

#define KEPT __attribute__((noinline, noclone))

struct Found {
  bool known = false;
  CallStack stack;
  StackRegisters registers{};
  std::vector<std::uint64_t> expected;  // callers of look(), from backtrace()
  std::vector<std::uint64_t> values;    // of stack.words, at the time of unwinding
};

std::uint64_t value_of(const StackWord& word, const StackRegisters& registers) {
  if (word.address < kKeptRegisters) return reinterpret_cast<const std::uint64_t*>(&registers)[word.address];
  return *reinterpret_cast<const std::uint64_t*>(word.address);
}

KEPT void look(Found& found) {
  ucontext_t context;
  getcontext(&context);
  const auto reg = [&](int index) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[index]); };
  found.registers = {reg(REG_R15), reg(REG_R14), reg(REG_R13), reg(REG_R12),
                     reg(REG_RBX), reg(REG_RBP), reg(REG_RSP), reg(REG_RIP)};
  void* frames[100];
  const int count = backtrace(frames, 100);
  for (int i = 2; i < count; i++) found.expected.push_back(reinterpret_cast<std::uint64_t>(frames[i]));
  Unwinder unwinder(getpid());
  found.known = unwinder.unwind(found.registers, reinterpret_cast<std::uint64_t>(frames[1]), found.stack);
  for (const StackWord& word : found.stack.words) found.values.push_back(value_of(word, found.registers));
}

KEPT int down(Found& found, int depth) {
  if (depth == 0)
    look(found);
  else
    down(found, depth - 1);
  return depth + static_cast<int>(found.stack.words.size());
}

BOOST_AUTO_TEST_CASE(the_stack_is_the_compilers) {
  for (int depth : {0, 1, 5, 20}) {
    Found found;
    down(found, depth);
    BOOST_REQUIRE(found.known);
    BOOST_TEST(found.stack.callers == found.expected, boost::test_tools::per_element());
    BOOST_TEST(found.stack.callers.size() > static_cast<std::size_t>(depth));
  }
}

// A cache compares the words that the unwinder read, so stack.words must have them all, return addresses included.
BOOST_AUTO_TEST_CASE(all_that_was_read_is_told) {
  Found found;
  down(found, 5);
  BOOST_REQUIRE_EQUAL(found.values.size(), found.stack.words.size());
  for (std::size_t i = 0; i < found.values.size(); i++) BOOST_TEST(found.values[i] == found.stack.words[i].value);
  for (const std::uint64_t caller : found.stack.callers)
    BOOST_TEST(std::count(found.values.begin(), found.values.end(), caller) > 0);
}

BOOST_AUTO_TEST_CASE(code_without_information_has_no_stack) {
  Found found;
  down(found, 1);
  StackRegisters lost = found.registers;
  lost.rip = 0x1000;
  Unwinder unwinder(getpid());
  CallStack stack;
  BOOST_TEST(!unwinder.unwind(lost, found.expected[0], stack));
}

}  // namespace
}  // namespace reweave

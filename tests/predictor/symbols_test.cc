// Runs the symbolizer on this test program itself.
#define BOOST_TEST_MODULE formats_symbols
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>
#include <link.h>

#include "formats/elf/symbols.h"

namespace symbols_test {

int global_table[4];

__attribute__((always_inline)) inline std::uint64_t here() {
  std::uint64_t pc;
  asm volatile("lea 0(%%rip), %0" : "=r"(pc));
  return pc;
}
constexpr int kInlineLine = __LINE__ - 3;

__attribute__((noinline)) std::uint64_t outer_function() { return here(); }
constexpr int kOuterLine = __LINE__ - 1;

std::uint64_t load_bias() {
  Dl_info info{};
  link_map* map = nullptr;
  dladdr1(global_table, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  return map->l_addr;
}

const std::string kSelf = "/proc/self/exe";

BOOST_AUTO_TEST_CASE(functions_lines_and_inlined_calls) {
  reweave::Symbols symbols;
  const auto& code = symbols.code(kSelf, "", outer_function() - load_bias());
  BOOST_REQUIRE(code.frames.size() == 2u);
  BOOST_TEST(code.frames[0].function == "symbols_test::here()");
  BOOST_TEST(code.frames[0].line == kInlineLine);
  BOOST_TEST(code.frames[1].function == "symbols_test::outer_function()");
  BOOST_TEST(code.frames[1].line == kOuterLine);
  BOOST_TEST(code.frames[1].file.ends_with("symbols_test.cc"));
}

BOOST_AUTO_TEST_CASE(globals) {
  reweave::Symbols symbols;
  const auto data = symbols.data(kSelf, "", reinterpret_cast<std::uint64_t>(&global_table[2]) - load_bias());
  BOOST_TEST(data.name == "symbols_test::global_table");
  BOOST_TEST(data.offset == 8u);
  BOOST_TEST(data.size == 16u);
}

BOOST_AUTO_TEST_CASE(what_is_missing_degrades) {
  reweave::Symbols symbols;
  BOOST_TEST(symbols.code("/nowhere/libx.so", "", 0x1234).text() == "libx.so+0x1234");
  BOOST_TEST(symbols.data("/nowhere/libx.so", "", 0x1234).name.empty());
  BOOST_TEST(symbols.code(kSelf, "00ff", outer_function() - load_bias()).frames.empty());
}

}  // namespace symbols_test

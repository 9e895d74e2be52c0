// Names for addresses.
#define BOOST_TEST_MODULE symbols
#include "formats/symbols.h"

#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/formats/scratch.h"

namespace reweave {
namespace {

[[gnu::noinline]] int looked_up(int x) { return x * 3 + 1; }
constexpr int kLineAbove = __LINE__ - 1;

// This test's program and where in it `looked_up` is.
struct Place {
  std::string path;
  std::uint64_t offset;
};

Place place() {
  Dl_info info{};
  const auto address = reinterpret_cast<std::uintptr_t>(&looked_up);
  BOOST_REQUIRE(dladdr(reinterpret_cast<void*>(address), &info) != 0);
  return {std::filesystem::read_symlink("/proc/self/exe").string(),
          address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)};
}

void require_found(const std::string& path, std::uint64_t offset) {
  Symbols symbols;
  const CodeSymbol& symbol = symbols.code(path, "", offset, false);
  BOOST_REQUIRE(!symbol.frames.empty());
  BOOST_TEST(symbol.frames[0].function.find("looked_up") != std::string::npos, symbol.frames[0].function);
  BOOST_TEST(symbol.frames[0].line == kLineAbove);
  BOOST_TEST(symbol.frames[0].file.ends_with("tests/formats/symbols_test.cc"), symbol.frames[0].file);
}

BOOST_AUTO_TEST_CASE(names_function_file_and_line) {
  BOOST_TEST(looked_up(1) == 4);
  require_found(place().path, place().offset);
}

// clang writes no .debug_aranges.
BOOST_AUTO_TEST_CASE(needs_no_table_of_address_ranges) {
  const test::Scratch folder;
  const std::string copy = folder / "program";
  const std::string command = "objcopy --remove-section=.debug_aranges " + place().path + " " + copy;
  BOOST_REQUIRE(std::system(command.c_str()) == 0);
  require_found(copy, place().offset);
}

BOOST_AUTO_TEST_CASE(finds_functions_by_name) {
  Symbols symbols;
  const std::vector<std::uint64_t> here = {place().offset};
  for (const char* name : {"reweave::(anonymous namespace)::looked_up",
                           "reweave::(anonymous namespace)::looked_up(int)", "_ZN7reweave12_GLOBAL__N_19looked_upEi"})
    BOOST_TEST(symbols.functions(place().path, "", name) == here, name);
  BOOST_TEST(symbols.functions(place().path, "", "looked_up").empty());
  BOOST_TEST(symbols.functions("/nonexistent/program", "", "main").empty());
}

BOOST_AUTO_TEST_CASE(a_missing_file_leaves_the_offset) {
  Symbols symbols;
  BOOST_TEST(symbols.code("/nonexistent/program", "", 0x1234, false).text() == "program+0x1234");
}

}  // namespace
}  // namespace reweave

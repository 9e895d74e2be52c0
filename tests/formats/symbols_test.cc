// Names for addresses.
#define BOOST_TEST_MODULE symbols
#include "formats/elf/symbols.h"

#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "tests/formats/scratch.h"

namespace reweave {
namespace {

// The types of an object that is looked up by its address.
struct Account {
  int number;
  union {
    long money;
    char digits[8];
  };
};
struct Bank : Account {
  Account accounts[3];
  short grid[2][4];
  struct {
    int nested;
  } inner;
  int _reserved[4];
};
volatile Bank bank;

[[gnu::noinline]] int looked_up(int x) { return x * 3 + 1; }
constexpr int kLineAbove = __LINE__ - 1;

class Route {
 public:
  explicit Route(int hops) : hops_(hops) {}
  long hops() const { return hops_; }

 private:
  long hops_, hits_ = 0, bytes_ = 0;
};

const Route* volatile latest;  // keeps the allocation from being optimised away

[[gnu::noinline]] long by_constructor(int hops) {
  latest = new Route(hops);
  const long found = latest->hops();
  delete latest;
  return found;
}

[[gnu::noinline]] long by_definition() {
  Bank* made = static_cast<Bank*>(std::calloc(1, sizeof *made));
  const long found = made->number;
  std::free(made);
  return found;
}

// This test's program, and the offset of `looked_up` in it.
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

BOOST_AUTO_TEST_CASE(names_what_lies_in_a_variable) {
  Dl_info info{};
  BOOST_REQUIRE(dladdr(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&looked_up)), &info) != 0);
  const auto text = [&](const volatile void* address) {
    Symbols symbols;
    const auto at = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    const std::string found = symbols.data(place().path, "", at).text();
    return found.substr(found.rfind("::") + 2);
  };
  BOOST_TEST(text(&bank.number) == "bank.number");
  BOOST_TEST(text(&bank.accounts[2].money) == "bank.accounts[2].money");
  BOOST_TEST(text(&bank.grid[1][3]) == "bank.grid[1][3]");
  BOOST_TEST(text(&bank.inner.nested) == "bank.inner.nested");
  BOOST_TEST(text(&bank._reserved[0]).starts_with("bank+"));
}

// The types that some instruction of `function` allocates with this size.
std::set<std::string> types_allocated_in(const std::string& function, std::uint64_t bytes) {
  Symbols symbols;
  std::set<std::string> types;
  for (const CodeRange& range : symbols.code_of(place().path, "", function))
    for (std::uint64_t at = range.start + 1; at <= range.end; at++)
      types.insert(symbols.allocated_type(place().path, "", at, bytes));
  types.erase("");
  return types;
}

BOOST_AUTO_TEST_CASE(tells_what_a_statement_allocates) {
  BOOST_TEST(by_constructor(2) + by_definition() == 2);
  const auto ends_with = [](const std::set<std::string>& types, const char* name) {
    return types.size() == 1 && types.begin()->ends_with(name);
  };
  BOOST_TEST(ends_with(types_allocated_in("by_definition", sizeof(Bank)), "Bank"));
  BOOST_TEST(types_allocated_in("by_definition", sizeof(Bank) + 1).empty());
  BOOST_TEST(types_allocated_in("by_constructor", sizeof(Route) + 1).empty());
#ifdef __OPTIMIZE__  // calls are described only in optimised code
  BOOST_TEST(ends_with(types_allocated_in("by_constructor", sizeof(Route)), "Route"));
#endif
}

}  // namespace
}  // namespace reweave

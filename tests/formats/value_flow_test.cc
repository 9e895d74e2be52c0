// Finds the instrumented reads that decide nothing: in value_flow_subjects.c, compiled by GCC and Clang with and
// without optimisation, and in the hand-written value_flow_cases.S. The environment names the libraries.
#define BOOST_TEST_MODULE value_flow
#include <boost/test/unit_test.hpp>

#include <map>
#include <string>
#include <vector>

#include "formats/base/folder.h"
#include "formats/code/value_flow.h"
#include "tests/formats/elf_functions.h"

namespace reweave {
namespace {

// Per function, one character for each instrumented read or atomic update in order: the number of stores that its value
// reaches, or D if the value decides something.
using Effects = std::map<std::string, std::string>;

std::string effects_in(const ElfCode& elf, std::uint64_t address) {
  const auto code = elf.function_at(address);
  if (!code) return "?";
  const InstrumentedFunction function(elf, *code);
  std::string result;
  for (const Instruction& i : decode_all(code->code, code->start, 10'000)) {
    bool outside = false;
    if (i.kind != Instruction::Kind::kCall || i.target == 0) continue;
    const Callee callee = callee_named(elf.callee(i.target, outside));
    if (!callee.updates && callee.kind != Callee::Kind::kAnnouncesRead) continue;
    const ReadEffect effect = callee.updates ? effect_of_update(function, i.end()) : effect_of_read(function, i.end());
    BOOST_TEST(effect.stores.size() < 10u);
    result += effect.decides ? "D" : std::to_string(effect.stores.size());
  }
  return result;
}

Effects effects_of(const std::string& path) {
  const ElfCode elf(open_regular(path));
  Effects result;
  for (const auto& [name, address] : test::functions_of(path)) result[name] = effects_in(elf, address);
  return result;
}

void check(const Effects& effects, const std::map<std::string, std::string>& expected) {
  for (const auto& [name, effect] : expected) {
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(effects.at(name) == effect); }
  }
}

// Functions in which every value read decides something, with every compiler.
constexpr const char* kDecide[] = {"returns_it",  "branches",       "branches_later", "indexes",         "passes_it",
                                   "loops",       "divides",        "adds_doubles",   "calls_it",        "switches",
                                   "passes_many", "writes_through", "returns_old",    "branches_on_old", "stores_old",
                                   "passes_old",  "exchanges"};

// Functions in which only stores depend on the values read: with every compiler, and with GCC only. Both hold at every
// optimisation level.
const std::map<std::string, std::string> kByAll = {
    {"copies", "1"}, {"copies_member", "1"}, {"bumps", "0"}, {"bumps_twice", "00"}};
const std::map<std::string, std::string> kByGcc = {
    {"bumps_and_calls", "0"}, {"adds_one", "1"}, {"adds_up", "11"}, {"adds_in_section", "1"}, {"sums", "11"}};

void check_deciding(const Effects& effects) {
  for (const char* name : kDecide) {
    BOOST_TEST_CONTEXT(name) {
      const std::string found = effects.at(name);
      // Clang does not instrument a read of a variable that the code writes next, so `found` may be empty.
      BOOST_TEST(found.find_first_not_of('D') == std::string::npos);
    }
  }
}

struct Decoder {
  Decoder() { BOOST_REQUIRE_MESSAGE(can_decode(), "libZydis is not installed"); }
};
BOOST_TEST_GLOBAL_FIXTURE(Decoder);

BOOST_AUTO_TEST_CASE(gcc_without_optimisation) {
  const Effects effects = effects_of(test::library("GCC_0"));
  check_deciding(effects);
  check(effects, kByAll);
  check(effects, kByGcc);
  check(effects, {{"reads_in_vain", "0"}, {"copies_double", "1"}, {"chooses_value", "D"}});
}

BOOST_AUTO_TEST_CASE(gcc_with_optimisation) {
  const Effects effects = effects_of(test::library("GCC_2"));
  check_deciding(effects);
  check(effects, kByAll);
  check(effects, kByGcc);
  check(effects, {{"chooses_value", "1"}, {"copies_later", "1"}});
}

BOOST_AUTO_TEST_CASE(clang_without_optimisation) {
  const Effects effects = effects_of(test::library("CLANG_0"));
  check_deciding(effects);
  check(effects, kByAll);
  check(effects, {{"reads_in_vain", "0"}, {"chooses_value", "1"}, {"leaves_to_callee", "D"}});
}

BOOST_AUTO_TEST_CASE(clang_with_optimisation) {
  const Effects effects = effects_of(test::library("CLANG_2"));
  check_deciding(effects);
  check(effects, kByAll);
  check(effects, {{"chooses_value", "1"}, {"copies_later", "1"}, {"bumps_and_calls", "0"}});
}

BOOST_AUTO_TEST_CASE(makers_are_known) {
  for (const char* variable : {"GCC_0", "GCC_2", "CASES"}) {
    const ElfCode elf(open_regular(test::library(variable)));
    BOOST_TEST(elf.made_by_gcc());
    BOOST_TEST(elf.instrumented());
    BOOST_TEST(!elf.unwinds());
  }
  BOOST_TEST(!ElfCode(open_regular(test::library("CLANG_0"))).made_by_gcc());
  BOOST_TEST(ElfCode(open_regular(test::library("UNWINDS"))).unwinds());
}

// The analysis does not follow an exception's handler, so a value that lives across a call decides there.
BOOST_AUTO_TEST_CASE(exceptions) {
  const Effects effects = effects_of(test::library("UNWINDS"));
  check(effects, {{"lives_across_call", "D"}, {"bumps_before_call", "0"}, {"keeps_old_across_call", "D"}});
}

BOOST_AUTO_TEST_CASE(hand_written) {
  check(effects_of(test::library("CASES")), {{"drops", "0"},
                                             {"loads_through_pointer", "0"},
                                             {"loads_elsewhere", "D"},
                                             {"loads_after_branch", "D"},
                                             {"stores_unannounced", "D"},
                                             {"stores_announced", "1"},
                                             {"stores_beside", "D"},
                                             {"through_frame", "0"},
                                             {"branches_from_frame", "D"},
                                             {"branches_from_part", "D"},
                                             {"overwrites", "0"},
                                             {"indexes_frame", "D"},
                                             {"looks_again_in_frame", "D"},
                                             {"stores_parts", "D"},
                                             {"lends_frame", "D"},
                                             {"loads_wide", "D"},
                                             {"comes_back", "D"},
                                             {"does_not_come_back", "0"},
                                             {"writes_for_caller", "D"},
                                             {"passes_on_stack", "D"},
                                             {"pushes", "D"},
                                             {"jumps_to_it", "D"},
                                             {"tail_call_with_it", "D"},
                                             {"tail_call_without_it", "0"},
                                             {"leaves", "D"},
                                             {"divides_by_it", "D"},
                                             {"compares_only", "0"},
                                             {"adds_carry", "D"},
                                             {"asks_kernel", "D"},
                                             {"survives_local_call", "D"},
                                             {"dies_at_call", "0"},
                                             {"into_instruction", "D"},
                                             {"meets_next_turn", "D"},
                                             {"not_code", ""},
                                             {"no_size", "?"}});
}

}  // namespace
}  // namespace reweave

// Code of functions by address, and names of what they call; damaged files give wrong answers at worst.
#define BOOST_TEST_MODULE elf_code
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <random>
#include <string>

#include "formats/base/folder.h"
#include "formats/code/value_flow.h"
#include "tests/formats/elf_functions.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

BOOST_AUTO_TEST_CASE(functions_and_callees) {
  const std::string path = test::library("GCC_2");
  const ElfCode elf(open_regular(path));
  const std::uint64_t start = test::functions_of(path).at("adds_in_section");
  for (std::uint64_t inside : {start, start + 5}) {
    const auto function = elf.function_at(inside);
    BOOST_REQUIRE(function);
    BOOST_TEST(function->start == start);
  }
  std::vector<std::string> names;
  const auto function = elf.function_at(start);
  for (const Instruction& i : decode_all(function->code, start, 1000)) {
    if (i.kind != Instruction::Kind::kCall && i.kind != Instruction::Kind::kJump) continue;
    bool outside = false;
    names.push_back(elf.callee(i.target, outside));
    BOOST_TEST(outside);
  }
  const std::vector<std::string> expected = {"__tsan_func_entry", "pthread_mutex_lock",   "__tsan_read4",
                                             "__tsan_write4",     "pthread_mutex_unlock", "__tsan_func_exit"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
  BOOST_TEST(!elf.function_at(0));
  BOOST_TEST(!elf.function_at(~std::uint64_t{0}));
  BOOST_TEST(!elf.may_change(start));
}

BOOST_AUTO_TEST_CASE(no_elf_file) {
  const ElfCode closed{Fd()};
  BOOST_TEST(!closed.function_at(0x1000));
  BOOST_TEST(closed.unwinds());
  const ElfCode text(open_regular("/etc/passwd"));
  BOOST_TEST(!text.function_at(0x1000));
}

// Makes every kind of query about a file; the answers do not matter.
std::size_t look_at(const std::string& path, std::uint64_t from, std::uint64_t to) {
  const ElfCode elf(open_regular(path));
  std::size_t found = 0;
  for (std::uint64_t address = from; address < to; address += 64) {
    const auto function = elf.function_at(address);
    if (!function) continue;
    const InstrumentedFunction decoded(elf, *function);
    for (std::uint64_t at = function->start; at < function->start + std::min<std::size_t>(function->code.size(), 400);
         ++at)
      found += effect_of_read(decoded, at).decides ? 0 : 1;
  }
  return found;
}

BOOST_AUTO_TEST_CASE(damaged_files) {
  const std::vector<char> bytes = test::bytes_of(test::library("GCC_2"));
  const auto functions = test::functions_of(test::library("GCC_2"));
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const auto& [name, address] : functions) from = std::min(from, address), to = std::max(to, address + 64);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const test::Scratch scratch;
  const std::string path = scratch / "damaged";
  std::mt19937 random(1);
  std::size_t found = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<char> damaged = bytes;
    if (round % 5 == 0) damaged.resize(random() % damaged.size());
    // Mostly damages the tables: the headers, the section headers, and what they point to.
    for (unsigned flips = 1 + random() % 8; flips > 0 && !damaged.empty(); --flips) {
      std::size_t at = random() % damaged.size();
      if (random() % 3 == 0) at = random() % std::min<std::size_t>(damaged.size(), 1024);
      if (random() % 3 == 0) at = (header.e_shoff + random() % (header.e_shnum * sizeof(Elf64_Shdr))) % damaged.size();
      damaged[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    std::ofstream(path, std::ios::binary).write(damaged.data(), static_cast<std::streamsize>(damaged.size()));
    found += look_at(path, from, to);
  }
  BOOST_TEST(found > 0u);  // some damage does not matter
}

// Random bytes as code: walks end, and nothing is read outside.
BOOST_AUTO_TEST_CASE(random_code) {
  const ElfCode elf{Fd()};
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    ElfCode::Function function{0x1000, std::vector<std::uint8_t>(random() % 200)};
    for (std::uint8_t& byte : function.code) byte = static_cast<std::uint8_t>(random());
    const InstrumentedFunction decoded(elf, function);
    for (std::uint64_t at = 0; at <= function.code.size(); ++at)
      BOOST_TEST(effect_of_read(decoded, 0x1000 + at).decides);
  }
}

}  // namespace
}  // namespace reweave

// Compares the core's decoder with objdump(1), on the code of real libraries.
#define BOOST_TEST_MODULE instruction
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "recorder/core/code/instruction.h"
#include "tests/recorder/listing.h"

using reweave::core::decode;
using reweave::core::Instruction;
using reweave::tests::for_each_instruction;
using reweave::tests::Listed;

namespace {

// Returns the target of an instruction as objdump prints it: "# address" after an operand, or the operand of a branch.
std::uint64_t target_in(const std::string& text) {
  const auto comment = text.find("# ");
  if (comment != std::string::npos) return std::strtoull(text.c_str() + comment + 2, nullptr, 16);
  const auto operand = text.find_first_of(" \t");
  return std::strtoull(text.c_str() + text.find_first_not_of(" \t", operand), nullptr, 16);
}

std::uint64_t target_of(const Listed& listed, const Instruction& found) {
  std::int32_t distance = 0;
  if (found.short_branch)
    distance = static_cast<std::int8_t>(listed.bytes.back());
  else
    std::memcpy(&distance, listed.bytes.data() + found.distance_at, sizeof distance);
  return listed.address + listed.bytes.size() + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

bool is_any(const std::string& text, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (text.find(name) == 0) return true;
  return false;
}

// Removes the prefixes that objdump prints before calls, jumps and returns.
std::string without_prefixes(std::string text) {
  for (const std::string prefix : {"bnd ", "notrack ", "repz ", "data16 ", "cs ", "ds ", "rex.W "})
    if (text.find(prefix) == 0) return without_prefixes(text.substr(prefix.size()));
  return text;
}

void check(const std::string& file) {
  std::uint64_t all = 0, known = 0, measured = 0, wrong = 0;
  for_each_instruction(file, [&](Listed listed) {
    const std::size_t size = listed.bytes.size();
    listed.bytes.resize(size + reweave::core::kLongestInstruction);
    const Instruction found = decode(listed.bytes.data());
    const std::uint32_t bytes = reweave::core::instruction_bytes(listed.bytes.data());
    listed.bytes.resize(size);
    if (bytes != 0) measured++;
    const bool waits = listed.bytes[0] == 0x9b;  // objdump lists fwait and the next instruction as one
    if (bytes != 0 && bytes != size && !waits && wrong++ < 20)
      BOOST_ERROR(file << " " << std::hex << listed.address << ": " << std::dec << bytes << " bytes: " << listed.text);
    all++;
    const bool repeated =
        is_any(listed.text, {"rep ", "repz ", "repnz "}) && listed.text.find("ret") == std::string::npos;
    if (reweave::core::repeats(listed.bytes.data()) != repeated && wrong++ < 20)
      BOOST_ERROR(file << " " << std::hex << listed.address << ": repeats: " << listed.text);
    if (found.bytes == 0) return;
    known++;
    const std::string text = without_prefixes(listed.text);
    const bool leads = found.distance_at != 0 || found.short_branch;
    const bool direct = is_any(text, {"j", "call", "loop"}) && text.find(" *") == std::string::npos;
    const bool should = text.find("(%rip)") != std::string::npos || direct;
    const bool right =
        found.bytes == size && leads == should && (!leads || target_of(listed, found) == target_in(text)) &&
        found.falls_through == !is_any(text, {"jmp", "call", "ret"}) && found.calls == is_any(text, {"call"}) &&
        !is_any(text, {"lcall", "ljmp", "lret", "syscall", "rdtsc", "rdrand", "rdseed", "cpuid", "int3", "hlt", "ud2",
                       "xbegin", "xabort"});
    if (!right && wrong++ < 20)
      BOOST_ERROR(file << " " << std::hex << listed.address << ": " << std::dec << int{found.bytes}
                       << " bytes, distance at " << int{found.distance_at} << ": " << listed.text);
  });
  BOOST_TEST_MESSAGE(file << ": " << known << " of " << all);
  BOOST_TEST(all > 1000);
  BOOST_TEST(known * 100 > all * 80);  // most of the rest are calls
  BOOST_TEST(measured * 1000 > all * 999);
  BOOST_TEST(wrong == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(as_objdump_says) {
  for (const char* file : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"})
    check(file);
}

BOOST_AUTO_TEST_CASE(not_instructions) {
  const std::array<std::uint8_t, 16> prefixes = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                                 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66};
  BOOST_TEST(decode(prefixes.data()).bytes == 0);
  const std::array<std::uint8_t, 16> through_gs = {0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0};
  BOOST_TEST(decode(through_gs.data()).bytes == 0);
}

// Compares the core's search for rdtsc, rdtscp, cpuid and xgetbv with objdump(1), on the code of real libraries.
#define BOOST_TEST_MODULE input_instructions
#include "recorder/core/processor/input_instructions.h"

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>
#include <vector>

#include "tests/recorder/listing.h"

using reweave::core::input_instruction;
using reweave::core::InputInstruction;
using reweave::tests::Listed;

namespace {

using Bytes = std::vector<std::uint8_t>;

InputInstruction kind_of(const Listed& listed) {
  const std::string name = listed.text.substr(0, listed.text.find_first_of(" \t\n"));
  if (name == "rdtsc") return InputInstruction::kRdtsc;
  if (name == "rdtscp") return InputInstruction::kRdtscp;
  if (name == "xgetbv") return InputInstruction::kXgetbv;
  return name == "cpuid" ? InputInstruction::kCpuid : InputInstruction::kNone;
}

struct Code {
  std::uint64_t start = 0;
  Bytes bytes;
  std::map<std::uint64_t, InputInstruction> known;  // by address
};

Code code_of(const std::string& file) {
  Code code;
  reweave::tests::for_each_instruction(file, [&](const Listed& listed) {
    if (code.bytes.empty()) code.start = listed.address;
    if (kind_of(listed) != InputInstruction::kNone) code.known[listed.address] = kind_of(listed);
    code.bytes.resize(listed.address - code.start);
    code.bytes.insert(code.bytes.end(), listed.bytes.begin(), listed.bytes.end());
  });
  return code;
}

std::uint64_t check(const std::string& file) {
  const Code code = code_of(file);
  const std::uint8_t* start = code.bytes.data();
  for (std::size_t i = 0; i < code.bytes.size(); i++) {
    const InputInstruction found = input_instruction(start, start + i, start + code.bytes.size());
    const auto known = code.known.find(code.start + i);
    const InputInstruction wanted = known == code.known.end() ? InputInstruction::kNone : known->second;
    if (found != wanted) BOOST_ERROR(file << " at " << std::hex << code.start + i << ": " << static_cast<int>(found));
  }
  return code.known.size();
}

// Decodes `code` followed by `behind`, with enough nops around them for a decoder that starts earlier or continues.
InputInstruction found_in(Bytes code, std::size_t at, Bytes behind) {
  constexpr std::size_t kAround = 100;
  constexpr std::uint8_t kNop = 0x90;
  Bytes all(kAround, kNop);
  all.insert(all.end(), code.begin(), code.end());
  all.insert(all.end(), behind.begin(), behind.end());
  all.resize(all.size() + kAround, kNop);
  return input_instruction(all.data(), all.data() + kAround + at, all.data() + all.size());
}

const Bytes kStored = {0x89, 0x45, 0xf8, 0x89, 0x55, 0xfc};  // mov %eax, -8(%rbp); mov %edx, -4(%rbp)

}  // namespace

BOOST_AUTO_TEST_CASE(as_objdump_says) {
  std::uint64_t known = check("/lib64/ld-linux-x86-64.so.2");
  BOOST_TEST(known > 20);
  for (const char* file : {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"})
    known += check(file);
  BOOST_TEST(known > 30);
}

BOOST_AUTO_TEST_CASE(kinds) {
  BOOST_TEST((found_in({0x0f, 0x31}, 0, kStored) == InputInstruction::kRdtsc));
  BOOST_TEST((found_in({0x0f, 0x01, 0xf9}, 0, kStored) == InputInstruction::kRdtscp));
  BOOST_TEST((found_in({0x0f, 0xa2}, 0, {0x3d, 0x07, 0, 0, 0}) == InputInstruction::kCpuid));
  BOOST_TEST((found_in({0x0f, 0x01, 0xd0}, 0, kStored) == InputInstruction::kXgetbv));
  BOOST_TEST((found_in({0x0f, 0x01, 0xd1}, 0, kStored) == InputInstruction::kNone));  // xsetbv
}

BOOST_AUTO_TEST_CASE(value_used_behind_a_jump) {
  // rdtsc; jmp over four bytes that are not code; shl $32, %rdx
  BOOST_TEST((found_in({0x0f, 0x31, 0xeb, 0x04, 0xcc, 0xcc, 0xcc, 0xcc}, 0, {0x48, 0xc1, 0xe2, 0x20}) ==
              InputInstruction::kRdtsc));
}

BOOST_AUTO_TEST_CASE(parts_of_other_instructions) {
  // rol $15, %ebx; xor %ebp, %ebx
  BOOST_TEST((found_in({0xc1, 0xc3, 0x0f, 0x31, 0xeb}, 2, kStored) == InputInstruction::kNone));
  // mov $0x310f, %ebx
  BOOST_TEST((found_in({0xbb, 0x0f, 0x31, 0x00, 0x00}, 1, kStored) == InputInstruction::kNone));
}

BOOST_AUTO_TEST_CASE(value_not_used) {
  BOOST_TEST((found_in({0x0f, 0x31}, 0, {}) == InputInstruction::kNone));
  BOOST_TEST((found_in({0x0f, 0x31}, 0, {0, 0, 0x48, 0xc1, 0xe2, 0x20}) == InputInstruction::kNone));
}

BOOST_AUTO_TEST_CASE(nothing_is_read_outside) {
  const Bytes code = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20};
  for (std::size_t bytes = 0; bytes <= code.size(); bytes++) {
    const Bytes part(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(bytes));  // the sanitizer watches its end
    BOOST_TEST((input_instruction(part.data(), part.data(), part.data() + bytes) == InputInstruction::kNone));
  }
}

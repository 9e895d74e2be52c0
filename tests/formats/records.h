// Wire records for tests: builders for each kind, and a random stream that looks like a real one.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "formats/wire.h"

namespace reweave::test {

// The bytes of one record.
using Record = std::vector<std::uint64_t>;

inline const wire::RecordHeader* header_of(const Record& record) {
  return reinterpret_cast<const wire::RecordHeader*>(record.data());
}

// Returns a record: `fixed` followed by `tail` and padding, with a matching header.
template <typename Fixed>
Record make_record(wire::RecordKind kind, ThreadId thread, Fixed fixed, std::string_view tail = {}) {
  const std::size_t bytes = (sizeof fixed + tail.size() + 7) / 8 * 8;
  fixed.header = {static_cast<std::uint16_t>(kind), thread, static_cast<std::uint32_t>(bytes)};
  Record record(bytes / 8);
  std::memcpy(record.data(), &fixed, sizeof fixed);
  if (!tail.empty()) std::memcpy(reinterpret_cast<char*>(record.data()) + sizeof fixed, tail.data(), tail.size());
  return record;
}

// Returns text as it follows a record, with its NUL.
inline std::string text_tail(std::string_view text) { return std::string(text) + '\0'; }

// Returns an output chunk as it follows a call.
inline std::string output_tail(std::uint64_t address, std::string_view data) {
  const wire::OutputChunk chunk{address, data.size()};
  std::string tail(reinterpret_cast<const char*>(&chunk), sizeof chunk);
  tail += data;
  tail.resize((tail.size() + 7) / 8 * 8);
  return tail;
}

inline Record make_call(ThreadId thread, std::uint32_t number, std::int64_t result, std::uint64_t step,
                        std::uint64_t context, std::vector<std::uint64_t> args, std::string_view tail = {}) {
  wire::SyscallRecord call{};
  call.number = number;
  call.result = result;
  call.step = step;
  call.context = context;
  for (std::size_t i = 0; i < args.size() && i < 6; ++i) call.args[i] = args[i];
  return make_record(wire::RecordKind::kSyscall, thread, call, tail);
}

// One record of every kind, with awkward values.
std::vector<Record> one_of_each();

// Returns `count` records like those of a program with several threads: mostly read loops, futexes and switches.
std::vector<Record> realistic_stream(std::size_t count, std::uint64_t seed, std::size_t payload = 64);

// `count` records with random content in every field.
std::vector<Record> random_stream(std::size_t count, std::uint64_t seed);

}  // namespace reweave::test

// What the machine code after an access does with a pointer: stores null, or follows what was read without comparing it
// with null. Traces hold no values; the instructions that an instrumented access stands before tell this much.
//
// A guess by patterns of compilers' output (x86-64): "no" may also mean that it cannot be told. Files that are missing,
// or are not those recorded (build id), tell nothing. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/recorded_files.h"
#include "formats/trace_reader.h"

namespace reweave {

// The code right after the announcement of a store of 8 bytes stores the constant 0.
bool stores_null(std::span<const std::uint8_t> code);
// The code right after the announcement of a load of 8 bytes uses what it loads as an address before long, and does not
// compare it with 0.
bool follows_pointer(std::span<const std::uint8_t> code);

class AccessCode {
 public:
  // `trace` must outlive it.
  explicit AccessCode(const TraceReader& trace)
      : trace_(trace), files_(RecordedFiles::of_source(trace.info().header.source)) {}

  // kNullValue if the plain access `kind` of `bytes` at `site` stores null or reads a pointer that
  // is followed, or 0.
  std::uint8_t null_value(std::uint32_t site, EventKind kind, std::uint64_t bytes);

 private:
  enum State : std::uint8_t { kUnknown, kNo, kYes };

  bool look_up(std::uint32_t site, EventKind kind);
  const Fd& module(std::uint32_t number);

  const TraceReader& trace_;
  RecordedFiles files_;
  std::vector<State> reads_, writes_;    // by site
  std::map<std::uint32_t, Fd> modules_;  // not open if it is not the file that was traced
};

}  // namespace reweave

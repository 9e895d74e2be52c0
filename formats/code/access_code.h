// Recognises in the machine code after an instrumented access whether it stores a null pointer, or dereferences the
// loaded pointer without a null check. Traces hold values (formats/trace/value_coding.h), but not what is done with
// them.
//
// A heuristic on patterns of compiler output (x86-64): "no" may also mean "unknown". A file that is missing, or is not
// the recorded one (build-id), yields no answer. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/recording/recorded_files.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

// True if the code right after the announcement of an 8-byte store stores the constant 0.
bool stores_null(std::span<const std::uint8_t> code);
// True if the code right after the announcement of an 8-byte load soon uses the loaded value as an address, without
// comparing it with 0.
bool follows_pointer(std::span<const std::uint8_t> code);

class AccessCode {
 public:
  // `trace` must outlive it.
  explicit AccessCode(const TraceReader& trace)
      : trace_(trace), files_(RecordedFiles::of_source(trace.info().header.source)) {}

  // kNullValue if the plain access `kind` of `bytes` at `site` stores null, or reads a pointer that is then followed;
  // else 0.
  std::uint8_t null_value(std::uint32_t site, EventKind kind, std::uint64_t bytes);

 private:
  enum State : std::uint8_t { kUnknown, kNo, kYes };

  bool look_up(std::uint32_t site, EventKind kind);
  const Fd& module(std::uint32_t number);

  const TraceReader& trace_;
  RecordedFiles files_;
  std::vector<State> reads_, writes_;    // by site
  std::map<std::uint32_t, Fd> modules_;  // not open if the file is not the traced one
};

}  // namespace reweave

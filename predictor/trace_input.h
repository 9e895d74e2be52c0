// The trace to analyse: a trace file of ours, or STD text (by name or content).
//
// What can be read of a truncated or damaged trace is analysed; damage() tells why that is not all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "formats/process_addresses.h"
#include "formats/std_format.h"
#include "formats/trace_reader.h"
#include "predictor/trace_model.h"

namespace reweave {

// Thrown while a trace is read, also by a caller's `progress`: what was read so far is all; `reason` becomes damage().
struct StopReading {
  std::string reason;
};

// Why not all of a trace was analysed, and the exit status that says so.
struct TraceDamage {
  std::string reason;
  int exit_status;
};

class TraceInput {
 public:
  // `name`: what candidates are told it is, if that is not the path. Throws BadInput.
  explicit TraceInput(const std::string& path, const std::string& name = {});

  const std::string& name() const { return name_; }
  // Null for STD text.
  const TraceReader* reader() const { return reader_.get(); }
  const StdNames& std_names() const { return std_names_; }

  // Reads everything. Call once, first. `progress(done, all)` is called now and then; all = 0: not known.
  TraceModel load(const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);
  // Hands everything to `take` in chunks, the next being decoded meanwhile; instead of load(). Addresses of processes
  // are told apart. `progress` as for load().
  void stream(const std::function<void(const TraceChunk&)>& take,
              const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);
  // Events read by load() or stream().
  std::uint64_t events() const { return events_; }
  // Why load() did not read all.
  const std::optional<TraceDamage>& damage() const { return damage_; }

  // Visits the first `count` events again; not more than load() read. Addresses are the target's own.
  using Visit = std::function<void(std::uint64_t number, const TraceEvent& event, std::uint32_t site)>;
  void each(std::uint64_t count, const Visit& visit);

 private:
  // Runs `reading`; what it throws because of the trace becomes damage(), or BadInput.
  void read(const std::function<void()>& reading);
  void stream_file(const std::function<void(const TraceChunk&)>& take,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress);
  // Tells the addresses of processes apart.
  void tell_apart(TraceChunk& chunk) const;
  void stream_text(const std::function<void(const TraceChunk&)>& take,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress);
  void each_of_file(std::uint64_t count, const Visit& visit);
  void each_of_text(std::uint64_t count, const Visit& visit);
  std::string path_, name_;
  std::unique_ptr<TraceReader> reader_;
  StdNames std_names_;
  ProcessAddresses addresses_;
  std::uint64_t events_ = 0;
  std::optional<TraceDamage> damage_;
};

}  // namespace reweave

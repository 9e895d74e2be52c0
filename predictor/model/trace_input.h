// The trace to analyse: a trace file (*.rwt), or STD text (recognised by name or content).
//
// The readable part of a truncated or damaged trace is analysed; damage() says why the rest is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "formats/text/std_format.h"
#include "formats/trace/process_addresses.h"
#include "formats/trace/read_counts.h"
#include "formats/trace/trace_reader.h"
#include "predictor/model/trace_model.h"

namespace reweave {

// Thrown to stop reading a trace, also by a caller's `progress`. The events read so far are used; `reason` becomes
// damage().
struct StopReading {
  std::string reason;
};

// The reason why a trace was not analysed completely, and the exit status for that.
struct TraceDamage {
  std::string reason;
  int exit_status;
};

class TraceInput {
 public:
  // `name`: the name of the trace in candidates, if not the path. Throws BadInput.
  explicit TraceInput(const std::string& path, const std::string& name = {});

  const std::string& name() const { return name_; }
  // Null for STD text.
  const TraceReader* reader() const { return reader_.get(); }
  const StdNames& std_names() const { return std_names_; }

  // Reads everything. Call once, first. `progress(done, all)` is called now and then; all = 0: unknown.
  TraceModel load(const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);
  // Use instead of load(). Passes everything to `take` in chunks and decodes the next chunk at the same time. Addresses
  // are tagged with their process. `progress` as for load().
  void stream(const std::function<void(const TraceChunk&)>& take,
              const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);
  // Events read by load() or stream().
  std::uint64_t events() const { return events_; }
  // Counts of the plain reads that load() read; without places for STD text.
  const ReadCounts& reads() const { return reads_; }
  // The reason why load() or stream() did not read everything; none if it did.
  const std::optional<TraceDamage>& damage() const { return damage_; }

  // Visits the first `count` events again, at most those that load() read. Addresses are untagged.
  using Visit = std::function<void(std::uint64_t number, const TraceEvent& event, std::uint32_t site)>;
  void each(std::uint64_t count, const Visit& visit);

 private:
  // Runs `reading`; its exceptions about the trace become damage() or BadInput.
  void read(const std::function<void()>& reading);
  void stream_file(const std::function<void(const TraceChunk&)>& take,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress);
  // Tags addresses with their process.
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
  ReadCounts reads_;
  std::optional<TraceDamage> damage_;
};

}  // namespace reweave

// Finds the reads of a trace that decide nothing, from the machine code of the recorded files (value_flow.h): plain
// reads, and atomic updates of which nobody looks at the old value.
//
// A stored value may decide something at a later read, which the trace must show. But Clang does not announce a read
// that is followed by a write of the same variable, so such a read is not in the trace. Hence a read whose value is
// stored decides nothing only if GCC compiled all instrumented files.
//
// In files that are missing, or not proven to be the recorded ones (build-id), all reads count as deciding.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/code/access_code.h"
#include "formats/code/value_flow.h"
#include "formats/recording/recorded_files.h"
#include "formats/trace/read_counts.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

class ReadEffects {
 public:
  // Examines all places of the trace.
  explicit ReadEffects(const TraceReader& trace);

  // kOnlyData if the access `kind` at `site` is a plain read or an atomic update that decides nothing, or a plain write
  // of a value that may depend on such a read; else 0.
  std::uint8_t only_data(std::uint32_t site, EventKind kind) const {
    const auto& flags = kind == EventKind::kWrite ? writes_ : reads_;
    return site < flags.size() ? flags[site] : 0;
  }
  // The counts of places with plain reads; the counts of events in it are 0.
  const ReadCounts& counts() const { return counts_; }

 private:
  struct Place {
    std::uint64_t offset;
    std::uint32_t site;
    auto operator<=>(const Place&) const = default;
  };
  struct Read {
    std::uint32_t site;
    ReadEffect effect;
  };
  // The places of the trace in one file.
  struct File {
    std::vector<Place> places;  // sorted
    std::vector<Read> reads;
    bool announces_all = false;
  };

  Fd open(const std::string& path, const std::string& build_id) const;
  void look(File& file, Fd opened);
  void look_at_reads(File& file, const InstrumentedFunction& function, std::size_t first, std::size_t last);
  void mark(const File& file, bool all_announced);

  RecordedFiles files_;
  std::vector<std::uint8_t> reads_, writes_;  // by site
  std::uint64_t work_left_;
  ReadCounts counts_;
};

// The facts that the machine code shows about the access `kind` of `bytes` at `site`, as bits of its event's
// `aux`.
std::uint8_t code_bits(AccessCode& code, const ReadEffects& effects, std::uint32_t site, EventKind kind,
                       std::uint64_t bytes);

}  // namespace reweave

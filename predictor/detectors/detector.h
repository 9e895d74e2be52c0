// The interface of streaming race detectors: one pass over the events, memory bounded by live variables and locks, no
// model of the trace and no witness. To add one, write a file here and list it in all.cc and in meson.build.
//
// Detectors report what the recorded order alone suggests; analyses decide which of it is feasible (analysis.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "formats/trace/trace_decoder.h"

namespace reweave {

// Two places in the code that conflict, with the data of their first report.
struct RaceReport {
  std::uint32_t first_site, second_site;
  ThreadId first_thread, second_thread;
  bool first_writes, second_writes;
  std::uint64_t address;
  std::uint64_t event;      // number of the second access in the trace
  std::uint64_t count = 1;  // number of reports of the two places
};

// An earlier access, as detectors store it.
struct AccessMark {
  std::uint32_t site;
  ThreadId thread;
  bool write;
};

class RaceReports {
 public:
  void add(const AccessMark& first, const AccessMark& second, std::uint64_t address, std::uint64_t event);
  // In order of their first event.
  std::vector<RaceReport> take() { return std::move(reports_); }

 private:
  std::unordered_map<std::uint64_t, std::size_t> index_;  // by both sites
  std::vector<RaceReport> reports_;
};

class Detector {
 public:
  virtual ~Detector() = default;
  // The next events, in trace order.
  virtual void take(const TraceChunk& chunk) = 0;
  virtual std::vector<RaceReport> finish() = 0;
};

struct DetectorRow {
  const char* name;
  const char* summary;
  std::unique_ptr<Detector> (*make)();
};

std::span<const DetectorRow> all_detectors();

std::unique_ptr<Detector> make_hb();
std::unique_ptr<Detector> make_shb();
std::unique_ptr<Detector> make_wcp();
std::unique_ptr<Detector> make_lockset();

}  // namespace reweave

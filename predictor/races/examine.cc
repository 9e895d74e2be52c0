#include "predictor/races/examine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "formats/base/error.h"
#include "formats/base/exit_status.h"
#include "predictor/races/race_finder.h"
#include "predictor/races/race_text.h"

namespace reweave {

namespace {

// The name of a report's kind in suppressions, and the option that disables it.
struct KindRow {
  const char* suppressed_as;
  bool TsanOptions::*wanted;
};
constexpr KindRow kKindRows[] = {
    {"race", &TsanOptions::report_bugs},           {"race", &TsanOptions::report_bugs},
    {"thread", &TsanOptions::report_thread_leaks}, {"mutex", &TsanOptions::report_destroy_locked},
    {"mutex", &TsanOptions::report_mutex_bugs},    {"deadlock", &TsanOptions::detect_deadlocks},
    {"race", &TsanOptions::report_bugs},           {"race", &TsanOptions::report_bugs}};
const KindRow& row_of(const RaceFinding& finding) { return kKindRows[static_cast<std::size_t>(finding.kind)]; }

class Examination {
 public:
  Examination(const std::string& trace, const RaceOptions& options) : options_(options), reader_(trace) {}

  TsanReports run() {
    findings_ = find();
    RacePlaces places(reader_, findings_);
    RaceText text(reader_, findings_, places, options_.tsan);
    result_.is_instrumented = findings_.is_instrumented;
    for (const RaceFinding& finding : findings_.findings) {
      if (!is_wanted(finding) || is_suppressed(finding, places)) continue;
      result_.reports.push_back({finding.process, text.pid_of(finding.process), text.report(finding),
                                 text.summary(finding), key_of(finding, places)});
      if (options_.tsan.halt_on_error) break;
    }
    for (const Suppressions::Row& row : suppressions_.rows())
      if (row.matched != 0) result_.suppressed.push_back(row);
    return std::move(result_);
  }

 private:
  RaceFindings find() {
    const RaceFindings nothing;
    RacePlaces places(reader_, nothing);
    const bool has_libraries = suppressions_.has("called_from_lib");
    RaceFinder finder(reader_, [&](std::uint32_t site) {
      return has_libraries && suppressions_.find("called_from_lib", {places.module_of(site)}) != nullptr;
    });
    for (TraceChunk chunk; reader_.next(chunk);) finder.take(chunk);
    return finder.finish();
  }

  bool is_wanted(const RaceFinding& finding) const {
    const TsanOptions& tsan = options_.tsan;
    const bool atomic = std::any_of(finding.accesses.begin(), finding.accesses.end(),
                                    [](const RacingAccess& access) { return access.atomic; });
    return tsan.report_bugs && tsan.*row_of(finding).wanted &&
           (tsan.report_atomic_races || !atomic || finding.kind != RaceKind::kRace);
  }

  bool is_suppressed(const RaceFinding& finding, RacePlaces& places) {
    const std::string kind = row_of(finding).suppressed_as;
    std::vector<NamedPlace> stacks;
    for (const RacingAccess& access : finding.accesses) stacks.push_back(access.where);
    stacks.insert(stacks.end(), finding.stacks.begin(), finding.stacks.end());
    if (finding.kind != RaceKind::kLockOrder)
      for (const ThreadId thread : finding.threads)
        if (findings_.threads[thread].is_made) stacks.push_back(findings_.threads[thread].made);
    for (const NamedPlace& place : stacks)
      if (Suppressions::Row* row = suppressing(kind, places.frames(place))) return ++row->matched != 0;
    if (finding.block || finding.address == 0) return false;
    const GlobalVariable global = places.global(finding.address);
    Suppressions::Row* row = global.name.empty() ? nullptr : suppressions_.find(kind, {global.name, global.module});
    return row != nullptr && ++row->matched != 0;
  }

  Suppressions::Row* suppressing(const std::string& kind, const std::vector<ReportFrame>& frames) {
    for (const ReportFrame& frame : frames)
      if (Suppressions::Row* row = suppressions_.find(kind, {frame.function, frame.file, frame.module})) return row;
    if (kind != "race" || frames.empty()) return nullptr;
    return suppressions_.find("race_top", {frames[0].function, frames[0].file, frames[0].module});
  }

  // "f (file.c:12)" for the innermost frame of the program.
  static std::string place_of(const std::vector<ReportFrame>& frames) {
    const auto own =
        std::find_if(frames.begin(), frames.end(), [](const ReportFrame& frame) { return frame.offset != 0; });
    if (own == frames.end()) return "somewhere";
    const std::string where = own->file.empty() ? fmt::format("{}+{:#x}", file_name(own->module), own->offset)
                                                : fmt::format("{}:{}", file_name(own->file), own->line);
    return own->function.empty() ? where : fmt::format("{} ({})", own->function, where);
  }

  std::string key_of(const RaceFinding& finding, RacePlaces& places) {
    std::vector<std::string> ends;
    for (const RacingAccess& access : finding.accesses) ends.push_back(place_of(places.frames(access.where)));
    for (const NamedPlace& place : finding.stacks) ends.push_back(place_of(places.frames(place)));
    if (ends.empty()) ends.push_back(place_of(places.frames(findings_.threads[finding.threads[0]].made)));
    std::sort(ends.begin(), ends.end());
    std::string text = std::string(kind_name(finding.kind)) + " in ";
    for (std::size_t i = 0; i < ends.size(); i++) text += (i == 0 ? "" : " and ") + ends[i];
    return text;
  }

  const RaceOptions& options_;
  TraceReader reader_;
  Suppressions suppressions_ = options_.suppressions;
  RaceFindings findings_;
  TsanReports result_;
};

// The files that the reports of each process go to.
class Destination {
 public:
  explicit Destination(const std::string& path) : path_(path) {}

  std::FILE* of(std::int64_t pid) {
    if (path_.empty() || path_ == "stderr") return stderr;
    if (path_ == "stdout") return stdout;
    File& file = files_[pid];
    if (!file) {
      const std::string name = fmt::format("{}.{}", path_, pid);
      file.reset(std::fopen(name.c_str(), "a"));
      SYSCALL_CHECK(file == nullptr ? -1 : 0, "{}", name);
    }
    return file.get();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  std::string path_;
  std::map<std::int64_t, File> files_;
};

void print(const TsanReports& found, const TsanOptions& options) {
  Destination destination(options.log_path);
  std::map<std::int64_t, std::uint64_t> counts;
  for (const TsanReport& report : found.reports) {
    std::fputs(report.text.c_str(), destination.of(report.pid));
    counts[report.pid]++;
  }
  if (options.halt_on_error && !counts.empty()) return;
  for (const auto& [pid, count] : counts)
    fmt::print(destination.of(pid), "ThreadSanitizer: reported {} warnings\n", count);
  if (!options.print_suppressions || found.suppressed.empty()) return;
  std::uint64_t matched = 0;
  for (const Suppressions::Row& row : found.suppressed) matched += row.matched;
  const std::int64_t pid = counts.empty() ? 0 : counts.begin()->first;
  fmt::print(destination.of(pid), "ThreadSanitizer: Matched {} suppressions (pid={}):\n", matched, pid);
  for (const Suppressions::Row& row : found.suppressed)
    fmt::print(destination.of(pid), "{} {}:{}\n", row.matched, row.kind, row.pattern);
}

}  // namespace

RaceOptions RaceOptions::of_environment(const char* text) {
  RaceOptions options;
  if (text != nullptr) options.tsan = TsanOptions::parse(text);
  if (!options.tsan.suppressions.empty()) options.suppressions = Suppressions::read(options.tsan.suppressions);
  return options;
}

TsanReports find_races(const std::string& trace, const RaceOptions& options) {
  return std::make_unique<Examination>(trace, options)->run();
}

RaceVerdict report_races(const std::string& recording, const RaceOptions& options, const TraceMaker& maker,
                         const std::function<void(std::uint64_t)>& progress) {
  const RecordingTrace trace(recording, maker, progress);
  const TsanReports found = find_races(trace.path(), options);
  std::fflush(stdout);
  for (const std::string& line : options.suppressions.unknown())
    fmt::print(stderr, "reweave: {}: '{}' is ignored: unknown kind\n", options.tsan.suppressions, line);
  print(found, options.tsan);
  RaceVerdict verdict;
  verdict.reports = found.reports.size();
  if (verdict.reports != 0) verdict.always = options.tsan.exit_status;
  if (const TraceShortfall& shortfall = trace.shortfall(); shortfall.exit_status != 0) {
    fmt::print(stderr, "reweave: only a part of the run was examined for races: {}\n", shortfall.reason);
    verdict.if_passed = shortfall.exit_status;
  } else if (!found.is_instrumented) {
    fmt::print(stderr,
               "reweave: --races sees no memory accesses, so nothing is known about races: build the program with "
               "reweave-cc or -fsanitize=thread\n");
    verdict.if_passed = kExitBadInput;
  }
  return verdict;
}

}  // namespace reweave

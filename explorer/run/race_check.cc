#include "explorer/run/race_check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "formats/base/error.h"

namespace reweave {

namespace {

RaceOptions options_of_environment() { return RaceOptions::of_environment(std::getenv("TSAN_OPTIONS")); }

// Writes the recording's trace with a separate `reweave trace`, because fork servers live in this process's tree. A
// part of the run that cannot be replayed is missing from the trace.
std::string traced(const std::string& path) {
  const std::string trace = path + ".rwt";
  std::filesystem::remove(trace);
  const pid_t pid = fork();
  SYSCALL_CHECK(pid, "starting a trace");
  if (pid == 0) {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, 1);
    dup2(null, 2);
    execl("/proc/self/exe", "reweave", "trace", path.c_str(), "-o", trace.c_str(), nullptr);
    _exit(98);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return trace;
}

TsanReports races_of(const std::string& path, const RaceOptions& options) {
  const std::string trace = traced(path);
  if (!std::filesystem::exists(trace)) return {};
  TsanReports found = find_races(trace, options);
  std::filesystem::remove(trace);
  return found;
}

}  // namespace

RaceCheck::RaceCheck() : options_(options_of_environment()) {}

bool RaceCheck::takes_next() {
  constexpr std::uint64_t kAll = 100, kEach = 10;
  const std::uint64_t number = asked_++;
  const bool takes = sees_accesses_ && (number < kAll || number % kEach == 0);
  looked_at_ += takes ? 1 : 0;
  return takes;
}

void RaceCheck::judge(RunResult& run, const std::string& path) {
  const TsanReports found = races_of(path, options_);
  sees_accesses_ = sees_accesses_ && found.is_instrumented;
  for (const TsanReport& report : found.reports)
    if (std::find(run.races.begin(), run.races.end(), report.key) == run.races.end()) run.races.push_back(report.key);
  if (run.races.empty()) return;
  run.outcome = wire::OutcomeKind::kCheckFailed;
  run.text = run.races.front();
}

void tell_same_race(RunResult& run, const RunResult& wanted) {
  if (std::find(run.races.begin(), run.races.end(), wanted.text) != run.races.end()) run.text = wanted.text;
}

RaceOfRecording race_of_recording(const std::string& path, const std::string& key) {
  RaceOfRecording result;
  for (const TsanReport& report : races_of(path, options_of_environment()).reports) {
    if (report.key != key) continue;
    result.found = true;
    result.report += report.text;
  }
  return result;
}

}  // namespace reweave

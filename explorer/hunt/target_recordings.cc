// Records runs of a target without a search: the passing run, and runs of programs that the search cannot follow.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "explorer/campaign/failure_store.h"
#include "explorer/hunt/inputs.h"
#include "explorer/hunt/target_hunter.h"
#include "explorer/run/child.h"
#include "explorer/run/interruption.h"
#include "explorer/words/wording.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/terminal.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/test_framework.h"
#include "recorder/supervisor/target/program_check.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// The number of recorded runs in which a passing one is sought.
constexpr std::uint64_t kPassingTries = 5;
constexpr unsigned kReplays = 3;
// The output of the program and its recorder.
constexpr const char* kOutputFile = "output.txt";

RunResult result_of(const Manifest& manifest) {
  RunResult run;
  run.outcome = manifest.outcome;
  run.text = manifest.outcome_text;
  run.wait_status = run.text.empty() ? manifest.wait_status : 0;
  return run;
}

std::string programs_of(const Manifest& manifest) {
  std::set<std::string> names;
  for (const ProcessInfo& process : manifest.processes) names.insert(process.program);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

bool TargetHunter::fail(std::string problem, int status) {
  hunt_.problem = std::move(problem);
  hunt_.problem_status = status;
  fs::remove_all(path_of(kRecordingFolder));
  return false;
}

// The recorder's last message in the common output.
std::string TargetHunter::message_of_recorder() const {
  constexpr std::string_view kMark = "reweave: ";
  std::ifstream file(path_of(kOutputFile));
  std::string line, message;
  while (std::getline(file, line))
    if (line.starts_with(kMark)) message = line.substr(kMark.size());
  return message.empty() ? "the recorder ended without an answer" : message;
}

// True if the test program said that it has no such case. Its failure is then not a bug.
bool TargetHunter::chose_no_case() const {
  const TestFramework* framework = framework_of(find_program(hunt_.target.command.front()));
  if (framework == nullptr || framework->none[0] == 0) return false;
  std::ifstream file(path_of(kOutputFile));
  for (std::string line; std::getline(file, line);)
    if (line.find(framework->none) != line.npos) return true;
  return false;
}

bool TargetHunter::record(std::uint64_t seed, bool chaos, Recorded& recorded) {
  const std::string path = path_of(kRecordingFolder);
  ChildCommand command;
  command.argv = {"reweave", "record", "-o", path, "--seed", std::to_string(seed)};
  if (chaos) command.argv.push_back("--chaos");
  command.argv.push_back("--");
  command.argv.insert(command.argv.end(), hunt_.target.command.begin(), hunt_.target.command.end());
  command.working_directory = hunt_.target.working_directory;
  command.environment = hunt_.target.environment;
  const Fd output = Folder::open(folder_).recreate_file(kOutputFile);
  command.output = command.errors = output.get();
  const ChildEnd end = run_child(command, deadline_);
  if (interruption() != 0) {
    fs::remove_all(path);
    return false;
  }
  if (end.out_of_time)
    return fail(
        fmt::format("it had not ended when the time was up, after {:.0f} s: a program that does not end by itself "
                    "cannot be hunted",
                    options_.seconds),
        kExitNotExamined);
  if (!fs::exists(path)) return fail(message_of_recorder(), end.status());
  const RecordingReader reader(path);
  if (!reader.is_whole()) return fail(message_of_recorder(), kExitTruncated);
  recorded.run = result_of(reader.manifest());
  expected_.judge(recorded.run);
  recorded.processes = reader.manifest().processes.size();
  recorded.programs = programs_of(reader.manifest());
  hunt_.recorded++;
  if (recorded.run.failed() && chose_no_case())
    return fail(fmt::format("{} has no test case that its arguments choose", hunt_.target.name), kExitBadInput);
  const bool is_usable = recorded.run.outcome == wire::OutcomeKind::kPassed || recorded.run.failed();
  return is_usable || fail(describe_outcome(recorded.run), exit_status_of(recorded.run.outcome));
}

bool TargetHunter::record_passing() {
  if (hunt_.has_passing) return true;
  for (std::uint64_t tries = 0; tries < kPassingTries && !is_over(); tries++) {
    show("recording", 0, 0);
    Recorded recorded;
    if (!record(options_.seed + hunt_.recorded, false, recorded)) return false;
    if (!recorded.run.failed()) {
      fs::rename(path_of(kRecordingFolder), path_of(kPassingFolder));
      hunt_.has_passing = true;
      hunt_.inputs = hash_of_inputs(path_of(kPassingFolder));
      save_();
      return true;
    }
    keep_recorded(recorded.run, "");
    if (is_enough()) return true;
  }
  if (!is_over() && !found_) return fail("no run passed, and none that failed replays", kExitNotExamined);
  return false;
}

// Keeps a run that failed while being recorded. `how`: what provoked the failure; empty: nothing.
void TargetHunter::keep_recorded(const RunResult& run, const std::string& how) {
  progress_.clear();
  if (how.empty())
    notice("{} failed in recorded run {}, without any search: {}", hunt_.target.name, hunt_.recorded,
           describe_outcome(run));
  const std::string path = path_of(kRecordingFolder);
  HuntFailure failure;
  failure.recorded = true;
  KeptFailure& kept = failure.kept;
  Places places(path);
  failure.found_as = kept.what = readable_outcome(describe_outcome(run), places);
  kept.how = how;
  kept.found_at = hunt_.recorded;
  kept.preemptions = 0;
  for (; kept.replays < kReplays && interruption() == 0; kept.replays++)
    kept.verified += replays_alike(path, run, expected_, "") ? 1 : 0;
  if (kept.verified > 0) kept.last_words = last_words_of(path);
  kept.path = free_name(kept.reproduced() ? "failure" : "unreproduced");
  fs::rename(path, path_of(kept.path));
  found_ = found_ || kept.reproduced();
  if (kept.reproduced() && how.empty()) explain(failure);
  hunt_.failures.push_back(failure);
  save_();
}

// Records the program again and again under an unfair scheduler: for programs of several processes, which the search
// cannot follow.
void TargetHunter::record_unfairly() {
  const Clock::time_point start = Clock::now();
  HuntSearch search;
  search.strategy = "chaos";
  search.seed = hunt_.searches.back().seed;
  std::string programs;
  const std::uint64_t most = options_.runs != 0 ? options_.runs : std::numeric_limits<std::uint64_t>::max();
  // Each search has its own range of seeds.
  constexpr std::uint64_t kSeeds = 1'000'000;
  while (search.runs < most && !is_over() && !is_enough()) {
    search.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    show("recording unfairly", search.runs, search.seconds);
    Recorded recorded;
    if (!record(search.seed * kSeeds + search.runs, true, recorded)) break;
    search.runs++;
    programs = recorded.programs;
    if (recorded.run.failed())
      keep_recorded(recorded.run, fmt::format("an unfair scheduler (record --chaos --seed {})",
                                              search.seed * kSeeds + search.runs - 1));
    else
      fs::remove_all(path_of(kRecordingFolder));
  }
  progress_.clear();
  search.examined = search.runs;
  search.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  search.summary = {
      fmt::format("{} under an unfair scheduler in {:.2f} s, because the search cannot follow this program",
                  counted(search.runs, "recording"), search.seconds)};
  if (!programs.empty()) search.summary.push_back("programs that ran: " + programs);
  hunt_.searches.push_back(search);
  // The time ended the last run, not the program.
  if (is_over()) hunt_.problem.clear(), hunt_.problem_status = 0;
  save_();
}

}  // namespace reweave

#include "explorer/fixed/expect_fixed.h"

#include <nlohmann/json.hpp>

#include "explorer/campaign/failure_store.h"
#include "explorer/run/expected_endings.h"
#include "explorer/words/wording.h"
#include "formats/recording/recording_reader.h"

namespace reweave {

namespace {

FoundAgain found_again(const OldFailure& old, const std::string& path, const std::string& how) {
  const RunResult end = recorded_end(RecordingReader(path).manifest());
  FoundAgain found;
  found.path = path;
  Places places(path);
  found.what = readable_outcome(describe_outcome(end), places);
  found.how = how;
  found.last_words = last_words_of(path);
  found.same = is_same_failure(old, end, found.last_words);
  return found;
}

}  // namespace

nlohmann::json expect_fixed(const std::string& old_recording, CampaignOptions options, const PassingRecording& recorded,
                            const std::function<bool(const CampaignProgress&)>& on_progress) {
  const OldFailure old = read_old_failure(old_recording);
  Places places(options.recording);
  FixRuns runs(old, places);
  options.given = &runs.requests();
  FixReport report{.old = old, .recording = options.recording};
  report.recorded = recorded.tries;
  report.recorded_failed = recorded.tries - (recorded.passed ? 1 : 0);
  if (recorded.tries > 0 && !recorded.passed)
    report.failures.push_back(found_again(old, recorded.path, "recording the program"));
  const CampaignResult result = run_campaign(options, on_progress);
  runs.learn(result.given, places);
  report.pairs = runs.pairs();
  report.schedule = runs.schedule();
  report.strategy = options.strategy;
  report.search = result.progress;
  report.out_of_time = result.out_of_time;
  for (const KeptFailure& failure : result.failures)
    if (failure.reproduced()) report.failures.push_back(found_again(old, failure.path, failure.how));
  return fix_json(report);
}

}  // namespace reweave

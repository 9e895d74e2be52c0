// The state of a hunt; on disk as hunt.json (docs/hunt-format.md), from which it can be continued.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explorer/campaign/campaign.h"

namespace reweave {

// A program to hunt: the one that the user named, or one test of a test driver.
struct HuntTarget {
  std::string name;
  std::vector<std::string> command;
  std::string working_directory;  // empty: the current one
  // Variables in addition to, or in place of, the current ones. Not kept on disk.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string expected;  // endings that are normal (ExpectedEndings::parse); empty: status 0
  std::string problem;   // why it cannot be hunted; empty if it can
};

struct HuntFailure {
  KeptFailure kept;  // its path is the name of the recording in the target's folder
  std::string file;  // where the program failed, if known
  std::uint32_t line = 0;
  bool recorded = false;  // it failed while being recorded, without a search: there is no story
  std::string found_as;   // what the search called it, before the explanation named its objects
  std::string flows;      // the steps of the cause as SARIF's `codeFlows`, JSON; empty if no cause is known
};

// One search from the passing recording.
struct HuntSearch {
  std::string strategy;
  std::uint64_t seed = 0;
  std::uint64_t runs = 0, examined = 0;
  double seconds = 0;
  bool saw_accesses = false;
  bool one_schedule = false;           // there was nothing to search
  std::vector<std::string> suspected;  // about runs that may fail and could not be followed to their end, a line each
  std::vector<std::string> summary;    // for people, a line each
};

// The results for one target.
struct TargetHunt {
  HuntTarget target;
  std::string folder;     // within the hunt's folder; empty: the hunt's folder itself
  std::string identity;   // of the program's file: build-id or hash
  bool has_lines = true;  // true if the file has or names debug information, or is no program; not kept on disk
  bool has_passing = false;
  std::string inputs;           // hash_of_inputs() of the passing recording; empty if there is none or it is not known
  std::string unchanged_since;  // the file of an earlier hunt that searched the same program; empty: it is searched now
  std::uint64_t earlier_runs = 0;  // of the searches before that, if it is unchanged
  std::uint64_t recorded = 0;      // runs recorded without a search
  std::vector<HuntSearch> searches;
  std::vector<HuntFailure> failures;  // both those that replay and the others
  std::string problem;                // the reason why it was not searched, or not completely; empty if it was
  int problem_status = 0;             // exit status for `problem`

  bool found() const;
  bool suspects() const;  // true if a search suspected runs
  // True if it was searched, now or by the hunt that it is unchanged since, and there is nothing to report.
  bool is_clean() const;
  std::uint64_t runs() const;
  std::uint64_t examined() const;
};

struct HuntResult {
  std::vector<std::string> command;  // as given by the user
  std::string test_case;             // --case; empty: none
  std::string shard;                 // --shard; empty: all tests
  std::vector<TargetHunt> targets;   // one, or the tests of a driver
  std::string driver;                // ctest, meson, pytest; empty: none
  int interrupted = 0;               // the signal that interrupted the hunt, or 0

  bool found() const;
};

// The file in a hunt's folder that holds its state.
inline constexpr const char* kHuntFile = "hunt.json";
// The page of `reweave explain`, in the recording of a failure.
inline constexpr const char* kReportFile = "report.html";

// `status`: the exit status, for readers who have only the file.
std::string hunt_json(const HuntResult& result, int status);
// Throws BadInput if the text is not a hunt; `path` is for the message.
HuntResult parse_hunt(const std::string& text, const std::string& path);

}  // namespace reweave

#include "explorer/fixed/old_failure.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "explorer/campaigns/json_fields.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/elf/source_lines.h"
#include "formats/recording/recording_reader.h"

namespace reweave {

using nlohmann::json;

namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  OldStep step(const json& from) const {
    const JsonFields fields(from, path_);
    OldStep step;
    step.thread = static_cast<ThreadId>(fields.number("thread", kAnyThread - 1));
    step.number = static_cast<std::uint32_t>(fields.number("number", UINT32_MAX));
    step.place = fields.text("place");
    const bool in_library = from.contains("inside");
    const json& code = in_library ? fields.at("inside") : from;
    if (!code.is_object() || !code.contains("operation")) return step;
    const JsonFields place(code, path_);
    step.function = place.text("function");
    step.source = place.text("source");
    step.line = static_cast<int>(place.number("line", INT32_MAX));
    step.operation = static_cast<unsigned>(place.number("operation", UINT32_MAX));
    return step;
  }

  OldCandidate candidate(const json& flip) const {
    const bool is_block = flip.is_object() && flip.contains("block");
    const JsonFields fields(is_block ? flip.at("block") : flip, path_);
    OldCandidate candidate;
    const auto add = [&](const char* name) {
      const json& from = fields.at(name);
      candidate.steps.push_back(step(from));
      candidate.entries.emplace_back();
      if (from.contains("locked_at")) candidate.entries.back() = step(from.at("locked_at"));
    };
    if (is_block)
      add("begin"), add("between"), add("end");
    else
      add("first"), add("then");
    return candidate;
  }

 private:
  const std::string& path_;
};

// Removes the parts of a failure's text that differ between builds: lines, addresses, and names of the program and its
// sources.
std::string without_numbers(const std::string& whole) {
  constexpr std::size_t kMostCharacters = 2000;  // std::regex recurses for each
  const std::string text = whole.substr(0, kMostCharacters);
  static const std::regex source("[^ ]*\\.(c|cc|cpp|cxx|h|hh|hpp)(:[0-9]+)*:? ?"), number("0x[0-9a-f]+|[0-9]+");
  const std::size_t name = text.find(": ");
  return std::regex_replace(std::regex_replace(name == text.npos ? text : text.substr(name), source, ""), number, "#");
}

}  // namespace

OldFailure read_old_failure(const std::string& recording) {
  constexpr std::size_t kMostFlips = 1000, kMostSteps = 10'000;
  const RecordingReader reader(recording);
  OldFailure old;
  old.recording = recording;
  old.end = recorded_end(reader.manifest());
  constexpr std::size_t kMostBytes = 64 << 20;
  REQUIRE(reader.folder().has(kExplanationFile),
          "{} has no saved explanation: make one with the old program, `reweave explain --save {}`", recording,
          recording);
  const std::string text = read_whole(reader.folder(), kExplanationFile, kMostBytes);
  const std::string path = recording + "/" + kExplanationFile;
  const json report = parse_json(text, path);
  const JsonFields fields(report, path);
  REQUIRE(fields.text("format") == "reweave-explanation", "{} is no explanation", path);
  old.last_words = fields.text("last_words");
  old.cause = first_line(fields.text("cause"));
  const Reader steps(path);
  for (const json& flip : fields.list("flips", kMostFlips)) old.candidates.push_back(steps.candidate(flip));
  const JsonFields failing(fields.at("failing"), path);
  for (const json& step : failing.list("steps", kMostSteps)) old.schedule.push_back(steps.step(step));
  return old;
}

bool is_same_failure(const OldFailure& old, const RunResult& end, const std::string& last_words) {
  if (old.end.outcome != end.outcome) return false;
  switch (end.outcome) {
    case wire::OutcomeKind::kDeadlock:  // its text names every thread that waits
    case wire::OutcomeKind::kHang:
      return true;
    case wire::OutcomeKind::kMemoryError:
      return without_numbers(first_line(old.end.text)) == without_numbers(first_line(end.text));
    default:
      return old.end.wait_status == end.wait_status && without_numbers(old.last_words) == without_numbers(last_words);
  }
}

}  // namespace reweave

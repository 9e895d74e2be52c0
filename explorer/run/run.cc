#include "explorer/run/run.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cctype>
#include <cstring>

#include "formats/recording/manifest.h"

namespace reweave {

namespace {

// Removes from a report the details that differ between runs with the same failure: addresses and thread numbers.
std::string shape_of(const std::string& text) {
  std::string shape;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text.compare(i, 2, "0x") == 0) {
      i += 2;
      while (i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])) != 0) i++;
      shape += '#';
      if (i == text.size()) break;
    }
    shape += text[i];
    constexpr std::string_view kThread = "thread ";
    if (shape.ends_with(kThread))
      while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) i++;
  }
  return shape;
}

}  // namespace

bool same_failure(const RunResult& a, const RunResult& b) {
  return a.outcome == b.outcome && a.wait_status == b.wait_status && shape_of(a.text) == shape_of(b.text);
}

RunResult recorded_end(const Manifest& manifest) {
  RunResult run;
  run.outcome = manifest.outcome;
  run.wait_status = manifest.wait_status;
  run.text = manifest.outcome_text;
  return run;
}

std::string describe_outcome(const RunResult& run) {
  switch (run.outcome) {
    case wire::OutcomeKind::kPassed:
      return run.called_off ? "was stopped because the time was up" : "passed";
    case wire::OutcomeKind::kExitStatus:
      return fmt::format("exit status {}", WEXITSTATUS(run.wait_status));
    case wire::OutcomeKind::kSignalled:
      return fmt::format("killed by signal {} ({})", WTERMSIG(run.wait_status), strsignal(WTERMSIG(run.wait_status)));
    default:
      return run.text;
  }
}

}  // namespace reweave

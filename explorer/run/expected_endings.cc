#include "explorer/run/expected_endings.h"

#include <sys/wait.h>

#include <charconv>
#include <csignal>
#include <cstring>

#include "formats/base/error.h"

namespace reweave {

namespace {

// The number of "SIGTERM" or "TERM"; 0: there is no such signal.
int signal_number(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < NSIG; number++)
    if (const char* known = sigabbrev_np(number); known != nullptr && name == known) return number;
  return 0;
}

}  // namespace

ExpectedEndings ExpectedEndings::parse(const std::string& list) {
  ExpectedEndings expected;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view item = std::string_view(list).substr(at, end - at);
    at = end + 1;
    int status = 0;
    const auto [rest, error] = std::from_chars(item.data(), item.data() + item.size(), status);
    if (error == std::errc() && rest == item.data() + item.size() && status >= 0 && status <= 255) {
      expected.statuses_.insert(status);
    } else {
      const int number = signal_number(item);
      REQUIRE(number != 0, "'{}' is neither an exit status (0 to 255) nor the name of a signal", item);
      expected.signals_.insert(number);
    }
  }
  return expected;
}

ExpectedEndings ExpectedEndings::of_recording(const Manifest& manifest) {
  ExpectedEndings expected;
  const bool exited =
      manifest.outcome == wire::OutcomeKind::kPassed || manifest.outcome == wire::OutcomeKind::kExitStatus;
  expected.statuses_.insert(exited && WIFEXITED(manifest.wait_status) ? WEXITSTATUS(manifest.wait_status) : 0);
  return expected;
}

void ExpectedEndings::judge(RunResult& run) const {
  switch (run.outcome) {
    case wire::OutcomeKind::kPassed:
    case wire::OutcomeKind::kExitStatus:
      if (run.called_off) return;
      run.outcome = statuses_.contains(WEXITSTATUS(run.wait_status)) ? wire::OutcomeKind::kPassed
                                                                     : wire::OutcomeKind::kExitStatus;
      return;
    case wire::OutcomeKind::kSignalled:
      if (signals_.contains(WTERMSIG(run.wait_status))) run.outcome = wire::OutcomeKind::kPassed;
      return;
    default:
      return;
  }
}

std::string ExpectedEndings::text() const {
  if (signals_.empty() && statuses_ == std::set<int>{0}) return "";
  std::string text;
  for (const int status : statuses_) text += fmt::format("{}exit status {}", text.empty() ? "" : ", ", status);
  for (const int number : signals_) text += fmt::format("{}SIG{}", text.empty() ? "" : ", ", sigabbrev_np(number));
  return text;
}

}  // namespace reweave

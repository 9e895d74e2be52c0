#include "explorer/hunt/hunt_command.h"

#include <fmt/core.h>

#include <csignal>
#include <memory>
#include <utility>

#include "explorer/hunt/hunt.h"
#include "explorer/hunt/reports.h"
#include "explorer/hunt/words.h"
#include "explorer/run/interruption.h"
#include "explorer/words/escaping.h"
#include "explorer/words/github.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/number_check.h"
#include "formats/base/terminal.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

namespace {

struct HuntArguments {
  HuntOptions options;
  Hunt::Choice choice;
  std::string output, time = "3m";
  bool json = false, github = false;
  std::vector<std::string> command;
};

// Parses "90", "90s", "5m" or "2h" as seconds; negative if the text is not a time.
double seconds_of(std::string text) {
  constexpr std::pair<char, double> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  double factor = 1;
  for (const auto& [unit, seconds] : kUnits)
    if (text.ends_with(unit)) {
      factor = seconds;
      text.pop_back();
      break;
    }
  constexpr double kLongest = 1e9;
  if (!seconds_number()(text).empty()) return -1;
  const double seconds = std::stod(text) * factor;
  return seconds > 0 && seconds <= kLongest ? seconds : -1;
}

std::string is_time(const std::string& text) {
  return seconds_of(text) > 0 ? "" : "'" + text + "' is not a time such as 90s, 5m or 1h";
}

// Prints the screen, writes the summary of the job, and annotates each failure.
void tell_github(const HuntResult& result, const std::string& folder, const std::string& screen) {
  fmt::print("{}", github_verbatim(screen));
  append_github_summary(markdown_report(result, folder));
  for (const TargetHunt& target : result.targets)
    for (const HuntFailure& failure : target.failures)
      if (failure.kept.reproduced())
        fmt::print("{}", github_error(target.target.name, headline_of(failure) + "\n" + failure_text(failure),
                                      failure.file, failure.line));
}

// Highlights the verdict in the first line, and the user's next command in the last.
std::string in_color(std::string_view screen, bool found) {
  bool is_first = true;
  return with_styles(screen, [&](std::string_view line) -> std::optional<Style> {
    if (std::exchange(is_first, false)) return found ? Style::kFailure : Style::kHeading;
    const bool is_last = line.data() + line.size() + 1 == screen.data() + screen.size();
    return is_last ? std::optional(Style::kHeading) : std::nullopt;
  });
}

// An option of `hunt` among the program's arguments, with a value that the option would accept; empty if there is none.
std::string misplaced_option(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); i++) {
    const std::string& option = command[i];
    const std::string value = i + 1 < command.size() ? command[i + 1] : "";
    const bool is_for = option == "--for" && seconds_of(value) > 0;
    const bool is_runs = option == "--runs" && whole_number(1)(value).empty();
    if (is_for || is_runs) return option + " " + value;
  }
  return "";
}

int hunt(HuntArguments& arguments) {
  arguments.options.seconds = seconds_of(arguments.time);
  if (!arguments.options.expected.empty()) ExpectedEndings::parse(arguments.options.expected);
  if (arguments.github) require_github();
  if (const std::string option = misplaced_option(arguments.command); !option.empty())
    notice("{} is given to the program; an option of hunt comes before --", option);
  find_runtime();  // fails before a folder is created that would be left behind
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  Hunt hunt(arguments.options, arguments.command, arguments.choice);
  hunt.take_folder(arguments.output);
  if (hunt.continues()) {
    std::uint64_t runs = 0, failures = 0;
    for (const TargetHunt& target : hunt.result().targets) runs += target.runs(), failures += target.failures.size();
    notice("continuing {}: {} made, {} found", hunt.folder(), counted(runs, "run"), counted(failures, "failure"));
  }
  const int status = hunt.run();
  if (arguments.json)
    fmt::print("{}", hunt_json(hunt.result(), status));
  else if (const std::string screen = screen_report(hunt.result(), hunt.folder(), hunt.resume_command());
           arguments.github)
    tell_github(hunt.result(), hunt.folder(), screen);
  else
    fmt::print("{}", in_color(screen, hunt.result().found()));
  return status;
}

}  // namespace

void add_hunt_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<HuntArguments>();
  HuntOptions& options = arguments->options;
  CLI::App* verb =
      app.add_subcommand("hunt", "find out why a program fails sometimes: record, search, keep what fails");
  verb->footer(
      "Records a passing run, and searches its schedules for one that fails. Example: reweave hunt -- ./test\n"
      "ctest, meson test and pytest are hunted test by test: reweave hunt --for 20m -- ctest --test-dir build\n"
      "One folder has the recordings, summary.md, junit.xml, report.sarif and hunt.json; the same command continues.\n"
      "Exits 10 if there is a failure that replays, 0 if none was found, 11 if no run could be examined. Ctrl-C ends "
      "the "
      "hunt and keeps what was found (130).");
  verb->add_option("-o,--output", arguments->output,
                   "folder of the hunt, a new one or one to continue; default: reweave-hunt-PROGRAM-N here");
  verb->add_option("--for", arguments->time, "time for all of it, such as 90s, 5m or 1h")
      ->check(is_time)
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--runs", options.runs, "number of search runs for each test; default: as many as the time allows")
      ->check(whole_number(1))
      ->type_name("N");
  verb->add_flag("--all", options.all, "continue after the first failure");
  verb->add_option(
          "--case", arguments->choice.test_case,
          "run only this test case, by --gtest_filter=NAME, --run_test=NAME or the option of the program's framework")
      ->type_name("NAME");
  verb->add_option("--shard", arguments->choice.shard,
                   "only the tests of shard K of N, for N jobs of a CI service; a single test is searched from other "
                   "seeds in each")
      ->type_name("K/N");
  verb->add_option("--since", arguments->choice.since,
                   "hunt.json of an earlier hunt, or its folder: leave out tests that were searched then and whose "
                   "programs, libraries and files are still the same; if it does not exist, none is left out")
      ->type_name("PATH");
  verb->add_option("--expect-status", options.expected,
                   "exit statuses and signals that are normal, such as 0,3,SIGTERM; default: 0");
  verb->add_option("-j,--jobs", options.jobs, "workers of the search, each on a processor of its own")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  verb->add_flag("--all-frames", options.all_frames,
                 "also show functions of libraries and test frameworks in the stacks of memory errors");
  verb->add_flag("--json", arguments->json, "print hunt.json instead of text");
  verb->add_flag("--github", arguments->github,
                 "in a job of GitHub Actions: append the result to the job's summary, and annotate what fails")
      ->excludes("--json");
  verb->add_option("command", arguments->command, "program and its arguments")->required();
  verb->positionals_at_end();
  verb->callback([arguments, &status] { status = hunt(*arguments); });
}

}  // namespace reweave

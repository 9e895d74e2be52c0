#include "explorer/hunt/hunt_command.h"

#include <fmt/core.h>

#include <csignal>
#include <memory>

#include "explorer/escaping.h"
#include "explorer/hunt/hunt.h"
#include "explorer/hunt/reports.h"
#include "explorer/interruption.h"
#include "formats/error.h"
#include "formats/number_check.h"
#include "recorder/supervisor/target.h"

namespace reweave {

namespace {

struct HuntArguments {
  HuntOptions options;
  std::string output, test_case, time = "3m";
  bool json = false;
  std::vector<std::string> command;
};

// "90", "90s", "5m", "2h" as seconds; less than 0: it is none.
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

int hunt(HuntArguments& arguments) {
  arguments.options.seconds = seconds_of(arguments.time);
  if (!arguments.options.expected.empty()) ExpectedEndings::parse(arguments.options.expected);
  find_runtime();  // before there is a folder that would be left behind
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  Hunt hunt(arguments.options, arguments.command, arguments.test_case);
  hunt.take_folder(arguments.output);
  if (hunt.goes_on()) {
    std::uint64_t runs = 0, failures = 0;
    for (const TargetHunt& target : hunt.result().targets) runs += target.runs(), failures += target.failures.size();
    fmt::print(stderr, "reweave: going on with {}: {} runs were made, {} failure{} found\n", hunt.folder(), runs,
               failures, failures == 1 ? "" : "s");
  }
  const int status = hunt.run();
  if (arguments.json)
    fmt::print("{}", hunt_json(hunt.result(), status));
  else
    fmt::print("{}", screen_report(hunt.result(), hunt.folder(), hunt.resume_command()));
  return status;
}

}  // namespace

void add_hunt_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<HuntArguments>();
  HuntOptions& options = arguments->options;
  CLI::App* verb =
      app.add_subcommand("hunt", "find out why a program fails sometimes: record, search, keep what fails");
  verb->footer(
      "Records a run that passes, and searches its schedules for one that fails. Example: reweave hunt -- ./test\n"
      "Of ctest, meson test and pytest each test is hunted: reweave hunt --for 20m -- ctest --test-dir build\n"
      "One folder has the recordings, summary.md, junit.xml, report.sarif and hunt.json; the same command goes on.\n"
      "Exits 10 if there is a failure that replays, 0 if none was found, 11 if no run could be examined. Ctrl-C ends "
      "the "
      "hunt and keeps what was found (130).");
  verb->add_option("-o,--output", arguments->output,
                   "folder of the hunt, new or to go on with; default: reweave-hunt-PROGRAM-N here");
  verb->add_option("--for", arguments->time, "time for all of it, such as 90s, 5m or 1h")
      ->check(is_time)
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--runs", options.runs, "runs of the search, of each test; default: as many as the time allows")
      ->check(whole_number(1))
      ->type_name("N");
  verb->add_flag("--all", options.all, "go on after the first failure");
  verb->add_option("--case", arguments->test_case,
                   "run this test case only: --gtest_filter=NAME, --run_test=NAME or what the program's framework has")
      ->type_name("NAME");
  verb->add_option("--expect-status", options.expected,
                   "exit statuses and signals that are normal, such as 0,3,SIGTERM; default: 0");
  verb->add_option("-j,--jobs", options.jobs, "workers of the search, each on a processor of its own")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "print hunt.json instead of text");
  verb->add_option("command", arguments->command, "program and its arguments")->required();
  verb->positionals_at_end();
  verb->callback([arguments, &status] { status = hunt(*arguments); });
}

}  // namespace reweave

#include "recorder/supervisor/record_command.h"

#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "formats/error.h"
#include "recorder/supervisor/program_check.h"
#include "recorder/supervisor/record_session.h"
#include "recorder/supervisor/recordings.h"

namespace reweave {

namespace {

// The terminal's signals are for the program: this process goes on. A handler, for exec resets that to the default,
// while the program would inherit "ignored".
void leave_to_program(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

struct RecordArguments {
  std::string output;
  bool chaos = false;
  bool checksums = false;
  std::uint64_t seed = 0;
  std::uint64_t until_fail = 0;
  std::vector<std::string> command;
};

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  SYSCALL_CHECK(getrandom(&seed, sizeof seed, 0));
  return seed >> 1;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> list;
  for (char** entry = environ; *entry != nullptr; entry++) list.emplace_back(*entry);
  return list;
}

// The status to leave with, and the message of a run that the runtime ended.
int report(const RecordResult& result, const std::string& path) {
  if (result.text.empty()) return shell_status(result.wait_status);
  fmt::print(stderr, "reweave: {}\nreweave: the recording up to there is {}\n", result.text, path);
  return exit_status_of(result.outcome);
}

RecordResult record_once(const RecordArguments& arguments, const std::string& path, std::uint64_t seed) {
  RecordOptions options;
  options.output = path;
  options.program = {find_program(arguments.command.front()), arguments.command, current_environment()};
  options.policy = arguments.chaos ? "chaos" : "native";
  options.seed = seed;
  options.checksums = arguments.checksums;
  return record_program(options);
}

int record(const RecordArguments& arguments, bool seed_given) {
  // The terminal's interrupt is for the target; the recording of how it ends is ours to finish.
  for (int number : {SIGINT, SIGQUIT}) leave_to_program(number);
  const std::uint64_t runs = arguments.until_fail == 0 ? 1 : arguments.until_fail;
  const std::uint64_t first_seed = seed_given ? arguments.seed : random_seed();
  for (std::uint64_t run = 0; run < runs; run++) {
    find_program(arguments.command.front());
    const std::string path =
        arguments.output.empty() ? new_recording_path(arguments.command.front()) : arguments.output;
    const RecordResult result = record_once(arguments, path, first_seed + run);
    const bool failed = result.outcome != wire::OutcomeKind::kPassed;
    if (arguments.until_fail != 0) {
      if (!failed && run + 1 < runs) {
        std::filesystem::remove_all(path);
        continue;
      }
      fmt::print(stderr,
                 fmt::runtime(failed ? "reweave: run {} failed; its recording is {}\n"
                                     : "reweave: {} runs passed; the last is {}\n"),
                 run + 1, path);
    }
    note_latest(path);
    return report(result, path);
  }
  return 0;
}

}  // namespace

void add_record_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* verb = app.add_subcommand("record", "run a program and record it");
  verb->footer("The program's exit status becomes ours. Example: reweave record -- ./test --gtest_filter=Queue.*");
  verb->add_option("-o,--output", arguments->output, "directory to create for the recording");
  verb->add_flag("--chaos", arguments->chaos, "schedule threads unfairly, to make rare failures likely");
  CLI::Option* seed = verb->add_option("--seed", arguments->seed, "seed of the scheduling policy; default: random");
  verb->add_option("--until-fail", arguments->until_fail, "run at most N times, and keep the first run that fails")
      ->type_name("N");
  verb->add_flag("--checksums", arguments->checksums,
                 "log a hash of memory at each system call, for `replay --check`; slow");
  verb->add_option("command", arguments->command, "program and its arguments")->required();
  verb->positionals_at_end();
  verb->callback([arguments, seed, &status] { status = record(*arguments, seed->count() != 0); });
}

}  // namespace reweave

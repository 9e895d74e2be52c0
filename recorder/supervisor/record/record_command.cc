#include "recorder/supervisor/record/record_command.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/number_check.h"
#include "formats/base/terminal.h"
#include "formats/recording/manifest.h"
#include "recorder/supervisor/process/end_requests.h"
#include "recorder/supervisor/process/heap.h"
#include "recorder/supervisor/record/hidden_environment.h"
#include "recorder/supervisor/record/record_session.h"
#include "recorder/supervisor/record/recordings.h"
#include "recorder/supervisor/ring/unsaved.h"
#include "recorder/supervisor/target/program_check.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

namespace {

// Lets this process survive the signal. Uses a handler, because exec resets a handler to the default, while the program
// would inherit "ignored".
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
  bool races = false;
  std::uint64_t seed = 0;
  std::uint64_t until_fail = 0;
  std::string keep = "all";
  std::uint64_t max_bytes = 0;
  std::string processor;
  std::string left_behind;
  std::vector<std::string> hide_env, keep_env;
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

// A run, and its races.
struct RecordedRun {
  RecordResult result;
  RaceExaminer::Verdict races;

  bool failed() const { return result.outcome != wire::OutcomeKind::kPassed || races.always != 0; }
};

int status_of_interrupted(int signal) { return 128 + signal; }

// A run that was killed keeps its status, as with ThreadSanitizer, because the program did not choose it.
int status_with_races(int status, const RecordedRun& run) {
  if (WIFSIGNALED(run.result.wait_status)) return status;
  if (run.races.always != 0) return run.races.always;
  return status == 0 ? run.races.if_passed : status;
}

// Returns the exit status, and prints the message of a run that the core ended.
int report(const RecordArguments& arguments, const RecordedRun& run, const std::string& path,
           const EndingWords& words) {
  const RecordResult& result = run.result;
  const bool is_ours = result.interrupted != 0 && (arguments.until_fail != 0 || result.ended_rest);
  if (is_ours) return status_of_interrupted(result.interrupted);
  if (result.text.empty()) return status_with_races(shell_status(result.wait_status), run);
  fmt::print(stderr, "reweave: {}\n", result.dropped ? result.text : words(path, result.text));
  if (!result.dropped) fmt::print(stderr, "reweave: the recording up to there is {}\n", path);
  return exit_status_of(result.outcome);
}

// Says what became of the recording, if the user cannot know that from the command.
void tell(const RecordArguments& arguments, const RecordedRun& recorded, std::uint64_t run, const std::string& path) {
  const RecordResult& result = recorded.result;
  if (result.dropped)
    fmt::print(stderr, "reweave: the recording grew beyond --max-size and was dropped\n");
  else if (arguments.until_fail != 0 && result.interrupted != 0)
    notice("interrupted; no run has failed. The recording of run {}, the last, is {}", run, path);
  else if (arguments.until_fail != 0 && recorded.failed())
    notice("run {} failed; its recording is {}", run, path);
  else if (arguments.until_fail != 0)
    notice("{} passed; the last is {}", counted(run, "run"), path);
  else if (arguments.keep == "failures" && result.text.empty())
    notice("failed; to replay it: reweave replay {}", path);
  else
    detail("the recording is {}", path);
}

// Reports the values that a replay of this recording will lack unless they are given again.
void tell_hidden(const std::string& path) {
  const std::vector<std::string> names = hidden_names(read_manifest(Folder::open(path)).environment);
  if (names.empty()) return;
  const bool several = names.size() > 1;
  notice("the {} of {} {} secret and {} not recorded; --keep-env NAME keeps one", several ? "values" : "value",
         fmt::join(names, ", "), several ? "look" : "looks", several ? "are" : "is");
}

// Throws because the system has refused something that the recording needs. If the program had begun, it was stopped at
// the last call that is kept, and the message names the recording.
[[noreturn]] void fail_keeping(const SystemError& error, const std::string& path) {
  save_rest(path);
  const bool has_begun =
      std::filesystem::exists(path + "/events") && !read_manifest(Folder::open(path)).processes.empty();
  if (!has_begun) throw error;
  throw SystemError(fmt::format("{}; the program is stopped, and the recording up to there is {}", error.what(), path),
                    error.error_number());
}

RecordResult record_once(const RecordArguments& arguments, const std::string& path, std::uint64_t seed) {
  RecordOptions options;
  options.output = path;
  options.reserved = arguments.output.empty();
  if (!arguments.left_behind.empty()) options.left_behind = parse_left_behind(arguments.left_behind);
  options.max_bytes = arguments.max_bytes;
  options.program = {find_program(arguments.command.front()), arguments.command, current_environment()};
  // With checksums no value is hidden, because a replay whose memory differs has other hashes.
  options.environment =
      arguments.checksums
          ? options.program.environment
          : HiddenEnvironment(arguments.hide_env, arguments.keep_env).apply(options.program.environment);
  options.policy = arguments.chaos ? "chaos" : "native";
  options.seed = seed;
  options.checksums = arguments.checksums;
  if (!arguments.processor.empty())
    options.processor_level = static_cast<std::uint32_t>(arguments.processor.back() - '0');
  try {
    return record_program(options);
  } catch (const SystemError& error) {
    fail_keeping(error, path);
  } catch (...) {
    std::error_code ignored;  // it is not empty
    if (options.reserved) std::filesystem::remove(path, ignored);
    throw;
  }
}

// For a run that was interrupted before the program began.
int leave_nothing(const std::string& path, int signal) {
  std::filesystem::remove_all(path);
  fmt::print(stderr, "reweave: interrupted before the program began; there is no recording\n");
  return status_of_interrupted(signal);
}

RaceExaminer::Verdict examine_races(const RecordArguments& arguments, const RecordResult& result,
                                    const std::string& path, const RaceExaminer& races) {
  if (!arguments.races || end_request() != 0) return {};
  if (result.dropped) {
    fmt::print(stderr, "reweave: no races were looked for: there is no recording\n");
    return {0, 0, kExitTruncated};
  }
  return races.examine(path, [] {
    if (end_request() != 0) throw BadInput("interrupted while looking for races", status_of_interrupted(end_request()));
  });
}

int record(const RecordArguments& arguments, bool seed_given, const RaceExaminer& races, const EndingWords& words) {
  if (arguments.races) races.prepare();
  receive_end_requests();
  prepare_heap();
  // Without Reweave, signals that the program sends to its parent would reach the process that started this one. So
  // they must not end this one. SIGXFSZ: exceeding a file-size limit must be an error.
  for (int number : {SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGXFSZ}) leave_to_program(number);
  const std::uint64_t runs = arguments.until_fail == 0 ? 1 : arguments.until_fail;
  find_runtime();  // before a folder exists that would be left behind
  const std::uint64_t first_seed = seed_given ? arguments.seed : random_seed();
  for (std::uint64_t run = 0; run < runs; run++) {
    find_program(arguments.command.front());
    if (end_request() != 0) return status_of_interrupted(end_request());
    const std::string path =
        arguments.output.empty() ? new_recording_path(arguments.command.front()) : arguments.output;
    RecordedRun recorded;
    const RecordResult& result = recorded.result = record_once(arguments, path, first_seed + run);
    if (result.events == 0 && result.interrupted != 0) return leave_nothing(path, result.interrupted);
    recorded.races = examine_races(arguments, result, path, races);
    const bool again = arguments.until_fail != 0 && !recorded.failed() && run + 1 < runs && result.interrupted == 0;
    const bool forget = result.dropped || (arguments.keep == "failures" && !recorded.failed());
    if (again || forget) std::filesystem::remove_all(path);
    if (again) continue;
    if (!forget || result.dropped) tell(arguments, recorded, run + 1, path);
    if (!forget && recorded.failed()) tell_hidden(path);
    if (!forget) note_latest(path);
    return report(arguments, recorded, path, words);
  }
  return 0;
}

// Returns the error in a size. Checks the size before the parser reads it, because the parser takes -5 for a large
// number.
std::string is_size(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  return whole_number(1)(text.substr(0, digits)).empty() ? "" : "'" + text + "' is not a size of 1 byte or more";
}

}  // namespace

void add_record_command(CLI::App& app, int& status, const RaceExaminer& races, const EndingWords& words) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* verb = app.add_subcommand("record", "run a program and record it");
  verb->footer(
      "The exit status is the program's. Example: reweave record -- ./test --gtest_filter=Queue.*\n"
      "As a wrapper of tests: meson test --wrap 'reweave record --keep=failures'; with CMake\n"
      "-DCMAKE_CROSSCOMPILING_EMULATOR='reweave;record;--keep=failures;--'");
  verb->add_option("-o,--output", arguments->output, "directory to create for the recording");
  verb->add_flag("--chaos", arguments->chaos, "schedule threads unfairly, to make rare failures likely");
  CLI::Option* seed = verb->add_option("--seed", arguments->seed,
                                       "seed of the scheduling policy; default: random. Two runs with one seed can "
                                       "differ: the kernel's answers, "
                                       "signals and the time that threads compute are not decided by it")
                          ->check(whole_number());
  verb->add_option("--until-fail", arguments->until_fail, "run at most N times, and keep the first run that fails")
      ->type_name("N")
      ->check(whole_number(1));
  verb->add_option("--keep", arguments->keep, "which recordings are kept: all (the default), or only of failures")
      ->check(CLI::IsMember({"all", "failures"}))
      ->type_name("");
  verb->add_option("--max-size", arguments->max_bytes, "drop a recording that grows beyond this, such as 200MB")
      ->transform(CLI::AsSizeValue(true))
      ->transform(CLI::Validator([](std::string& text) { return is_size(text); }, ""))
      ->envname("REWEAVE_MAX_SIZE")
      ->type_name("SIZE");
  verb->add_option("--left-behind", arguments->left_behind,
                   "what to do with processes that still run when the command has ended: wait for them, kill them, "
                   "or kill them after this number of seconds; default: 5")
      ->envname("REWEAVE_LEFT_BEHIND")
      ->type_name("wait|kill|SECONDS");
  verb->add_option("--hide-env", arguments->hide_env,
                   "keep values of these environment variables out of the recording, in addition to those whose "
                   "names look like secrets (*TOKEN*, *SECRET*, *PASSWORD*, *_KEY, ...). The program sees the real "
                   "values; its replay sees asterisks. NAME and VALUE are patterns; '' hides nothing, not even "
                   "secrets")
      ->type_name("NAME[=VALUE]")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--keep-env", arguments->keep_env, "record the values of these variables nevertheless")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--checksums", arguments->checksums,
                 "record a hash of memory at each system call, for `replay --check`; slow, and hides no variables");
  verb->add_flag("--races", arguments->races,
                 "when the run has ended, report its data races as ThreadSanitizer does, and exit with its status "
                 "(66); the program must be built with reweave-cc or -fsanitize=thread; honours TSAN_OPTIONS");
  verb->add_option("--processor", arguments->processor,
                   "hide processor features beyond x86-64-v2, x86-64-v3 or x86-64-v4 from the program, so that the "
                   "recording replays on processors without them; default: hide nothing")
      ->check(CLI::IsMember({"x86-64-v2", "x86-64-v3", "x86-64-v4"}))
      ->envname("REWEAVE_PROCESSOR")
      ->type_name("LEVEL");
  verb->add_option("command", arguments->command, "program and its arguments")->required();
  verb->positionals_at_end();
  verb->callback(
      [arguments, seed, races, words, &status] { status = record(*arguments, seed->count() != 0, races, words); });
}

void add_save_rest_command(CLI::App& app) {
  auto recording = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand(kSaveRestVerb, "complete a recording whose recorder was killed")->group("");
  verb->add_option("recording", *recording, "its directory")->required();
  verb->callback([recording] { save_rest(*recording); });
}

}  // namespace reweave

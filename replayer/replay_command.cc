#include "replayer/replay_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/number_check.h"
#include "formats/base/terminal.h"
#include "formats/recording/manifest.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/process/heap.h"
#include "recorder/supervisor/record/hidden_environment.h"
#include "recorder/supervisor/record/record_session.h"
#include "recorder/supervisor/record/recordings.h"
#include "replayer/debugger.h"
#include "replayer/hold_command.h"
#include "replayer/live/gdb_stub.h"
#include "replayer/replay_session.h"
#include "replayer/saved_moment.h"

namespace reweave {

namespace {

constexpr const char* kInevitable = "inevitable";

struct ReplayArguments {
  std::string recording;
  std::string stop_event = "end";
  std::string gdb_batch;
  std::int32_t pid = 0;
  int hold_fd = -1;
  int listener = -1;
  int mi_output = -1;
  std::vector<std::string> given;
  CopyOrigin origin;
  bool makes_checkpoints = false;
  bool check = false;
  bool quiet = false;
  bool backward = false;
};

int report(const ReplayResult& result, const std::string& recording, bool quiet, const EndingWords& words) {
  const bool diverged = result.outcome == wire::OutcomeKind::kDiverged;
  if (!result.hidden.empty() && (diverged || !quiet))
    fmt::print(stderr, "reweave: the recording does not have the values of {}; the program was given asterisks{}\n",
               fmt::join(result.hidden, ", "),
               diverged ? ". If the program uses these variables, give them again: replay --env NAME=VALUE; or record "
                          "with --keep-env NAME"
                        : "");
  if (result.text.empty() && !result.missing.empty()) {
    fmt::print(stderr, "reweave: {}; everything in it was replayed\n", result.missing);
    return kExitTruncated;
  }
  if (result.text.empty()) return shell_status(result.wait_status);
  if (diverged)
    fmt::print(stderr, "reweave: Divergence: {}\n", result.text);
  else
    fmt::print(stderr, "reweave: {}\n", words(recording, result.text));
  return exit_status_of(result.outcome);
}

// In `replay -g RECORDING`, the argument of -g is a folder: takes it as the recording and stops at its end.
void settle_event(ReplayArguments& arguments) {
  if (arguments.recording.empty() && std::filesystem::is_directory(arguments.stop_event))
    std::swap(arguments.recording, arguments.stop_event);
  if (arguments.stop_event.empty()) arguments.stop_event = "end";
}

// Serves the gdb that connects to the given socket.
int serve(const ReplayArguments& arguments, const std::string& recording) {
  const ReplaySource source = {std::filesystem::read_symlink("/proc/self/exe"), recording,
                               arguments.pid == 0 ? "" : std::to_string(arguments.pid), -1};
  return serve_gdb(source, arguments.stop_event, arguments.quiet, arguments.listener, arguments.hold_fd);
}

int replay(const ReplayArguments& arguments, bool debug, bool batch, const EndingWords& words) {
  const std::string recording = recording_to_read(arguments.recording);
  for (const std::string& given : arguments.given)
    give_value(read_manifest(Folder::open(recording)).environment, given);
  if (arguments.listener >= 0) return serve(arguments, recording);
  if (arguments.hold_fd >= 0)
    return hold_for_debugger({recording, arguments.stop_event, arguments.pid, arguments.hold_fd, arguments.quiet,
                              arguments.check, arguments.makes_checkpoints, arguments.origin});
  if (debug) {
    // Checks the recording before gdb starts, so that a bad one is reported as by all verbs.
    if (!RecordingReader{recording}.is_whole())
      fmt::print(stderr, "reweave: the recording is truncated; gdb sees the part that exists\n");
    DebugArguments session{.recording = recording,
                           .where = arguments.stop_event,
                           .pid = arguments.pid,
                           .batch = batch,
                           .commands = arguments.gdb_batch,
                           .discard_output = arguments.quiet,
                           .mi_output = arguments.mi_output,
                           .backward = arguments.backward};
    if (arguments.stop_event == kInevitable) {
      const SavedMoment moment = read_moment(recording);
      session.recording = moment.recording;
      session.where = "1";
      session.moment = moment.name;
    }
    debug_recording(session);
  }
  prepare_heap();
  ReplayOptions options;
  options.check = arguments.check;
  options.discard_output = arguments.quiet;
  return report(replay_recording(recording, options), recording, arguments.quiet, words);
}

}  // namespace

void add_replay_command(CLI::App& app, int& status, const EndingWords& words) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* verb = app.add_subcommand("replay", "repeat a recorded run exactly");
  verb->footer(
      "Exits as the recorded program did; 3 if the replay diverged, 6 if the recording is truncated. With -g, exits as "
      "gdb does.");
  verb->add_option("recording", arguments->recording, "the recording; default: the latest");
  CLI::Option* stop = verb->add_option("-g,--goto", arguments->stop_event,
                                       "stop before this event or position, at the end, or at the moment after which "
                                       "every run fails (`inevitable`; needs `explain --save`), and start gdb")
                          ->type_name("EVENT|POSITION|end|inevitable")
                          ->expected(0, 1)
                          ->default_str("end");
  CLI::Option* pid = verb->add_option("-p,--pid", arguments->pid,
                                      "start gdb on this process of the recorded tree (see `reweave ps`); default: the "
                                      "last that died of a fault if the run failed, or the first")
                         ->type_name("PID")
                         ->check(whole_number(1, std::numeric_limits<std::int32_t>::max()));
  CLI::Option* batch = verb->add_option("--gdb-batch", arguments->gdb_batch,
                                        "commands for gdb, separated by ';', instead of a terminal");
  CLI::Option* backward = verb->add_flag(
      "--backward", arguments->backward,
      "let gdb go backward (reverse-continue, reverse-step, ...); the first step back is a replay from the start");
  // Internal: hold at the event and answer on this descriptor (hold_command.h).
  verb->add_option("--hold-fd", arguments->hold_fd)->group("");
  // Internal: make checkpoints on request; start from a checkpoint at an event instead of the beginning.
  verb->add_flag("--checkpoints", arguments->makes_checkpoints)->group("");
  verb->add_option("--copy-of", arguments->origin.checkpoint)->group("");
  verb->add_option("--copy-event", arguments->origin.event)->group("");
  // Internal: be the remote target of the gdb (live/gdb_stub.h) that connects to this listening socket.
  verb->add_option("--serve-gdb", arguments->listener)->group("");
  // Internal: gdb speaks MI on its standard streams, and the program's standard output goes to this descriptor
  // (dap/gdb_process.py).
  verb->add_option("--gdb-mi", arguments->mi_output)->group("");
  verb->add_option("--env", arguments->given,
                   "give the program the value of an environment variable that the recording hides (`record "
                   "--hide-env`); without =VALUE, the value in the present environment. For other verbs: "
                   "REWEAVE_ENV_NAME=VALUE in the environment")
      ->type_name("NAME[=VALUE]")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--check", arguments->check, "compare registers and memory at each system call");
  verb->add_flag_callback(
      "-q,--quiet",
      [arguments] {
        arguments->quiet = true;
        set_loudness(Loudness::kQuiet);
      },
      "discard the program's output, and show no progress and no notices");
  verb->callback([arguments, stop, pid, batch, backward, words, &status] {
    settle_event(*arguments);
    if (arguments->stop_event.find('/') != std::string::npos) arguments->backward = true;  // the name of a position
    const bool debug = stop->count() + pid->count() + batch->count() + backward->count() != 0;
    status = replay(*arguments, debug, batch->count() != 0, words);
  });
}

}  // namespace reweave

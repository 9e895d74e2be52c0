#include "replayer/replay_command.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "formats/error.h"
#include "formats/number_check.h"
#include "formats/recording_reader.h"
#include "recorder/supervisor/heap.h"
#include "recorder/supervisor/record_session.h"
#include "recorder/supervisor/recordings.h"
#include "replayer/debugger.h"
#include "replayer/hold_command.h"
#include "replayer/replay_session.h"

namespace reweave {

namespace {

struct ReplayArguments {
  std::string recording;
  std::string stop_event = "end";
  std::string gdb_batch;
  std::int32_t pid = 0;
  int hold_fd = -1;
  bool check = false;
  bool quiet = false;
};

int report(const ReplayResult& result, bool quiet) {
  const bool diverged = result.outcome == wire::OutcomeKind::kDiverged;
  if (!result.hidden.empty() && (diverged || !quiet))
    fmt::print(stderr, "reweave: the recording does not have the values of {}; the program was given asterisks{}\n",
               result.hidden, diverged ? ". If it acts on them, record with --keep-env NAME" : "");
  if (result.text.empty() && !result.missing.empty()) {
    fmt::print(stderr, "reweave: {}; all that it holds was replayed\n", result.missing);
    return kExitTruncated;
  }
  if (result.text.empty()) return shell_status(result.wait_status);
  if (diverged)
    fmt::print(stderr, "reweave: Divergence: {}\n", result.text);
  else
    fmt::print(stderr, "reweave: {}\n", result.text);
  return exit_status_of(result.outcome);
}

// `replay -g RECORDING` means its end: what follows -g is an event only if it looks like one.
void settle_event(ReplayArguments& arguments) {
  if (arguments.recording.empty() && std::filesystem::is_directory(arguments.stop_event))
    std::swap(arguments.recording, arguments.stop_event);
  if (arguments.stop_event.empty()) arguments.stop_event = "end";
}

int replay(const ReplayArguments& arguments, bool debug, bool batch) {
  const std::string recording = recording_to_read(arguments.recording);
  if (arguments.hold_fd >= 0)
    return hold_for_debugger({recording, arguments.stop_event, arguments.pid, arguments.hold_fd, arguments.quiet});
  if (debug) RecordingReader{recording};  // before gdb starts: a bad one is said as by all verbs
  if (debug)
    debug_recording({recording, arguments.stop_event, arguments.pid, batch, arguments.gdb_batch, arguments.quiet});
  prepare_heap();
  ReplayOptions options;
  options.check = arguments.check;
  options.discard_output = arguments.quiet;
  return report(replay_recording(recording, options), arguments.quiet);
}

}  // namespace

void add_replay_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* verb = app.add_subcommand("replay", "repeat a recorded run exactly");
  verb->footer(
      "Exits as the recorded program did; 3 if the replay diverged, 6 if the recording is cut. With -g, exits as gdb "
      "does.");
  verb->add_option("recording", arguments->recording, "the recording; default: the latest");
  CLI::Option* stop =
      verb->add_option("-g,--goto", arguments->stop_event, "stop before this event, or at the end, and start gdb")
          ->type_name("EVENT|end")
          ->expected(0, 1)
          ->default_str("end");
  CLI::Option* pid = verb->add_option("-p,--pid", arguments->pid,
                                      "start gdb on this process of the recorded tree (see `reweave ps`); default: the "
                                      "last that died of a fault if the run failed, or the first")
                         ->type_name("PID")
                         ->check(whole_number(1, std::numeric_limits<std::int32_t>::max()));
  CLI::Option* batch = verb->add_option("--gdb-batch", arguments->gdb_batch,
                                        "commands for gdb, separated by ';', instead of a terminal");
  // Internal: hold there and tell this descriptor (hold_command.h).
  verb->add_option("--hold-fd", arguments->hold_fd)->group("");
  verb->add_flag("--check", arguments->check, "compare registers and memory at each system call");
  verb->add_flag("--quiet", arguments->quiet, "discard the program's output");
  verb->callback([arguments, stop, pid, batch, &status] {
    settle_event(*arguments);
    const bool debug = stop->count() != 0 || pid->count() != 0 || batch->count() != 0;
    status = replay(*arguments, debug, batch->count() != 0);
  });
}

}  // namespace reweave

#include "replayer/replay_command.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "formats/error.h"
#include "formats/number_check.h"
#include "formats/recording_reader.h"
#include "formats/terminal.h"
#include "recorder/supervisor/heap.h"
#include "recorder/supervisor/record_session.h"
#include "recorder/supervisor/recordings.h"
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
  CopyOrigin origin;
  bool makes_checkpoints = false;
  bool check = false;
  bool quiet = false;
  bool backward = false;
};

int report(const ReplayResult& result, bool quiet) {
  const bool diverged = result.outcome == wire::OutcomeKind::kDiverged;
  if (!result.hidden.empty() && (diverged || !quiet))
    fmt::print(stderr, "reweave: the recording does not have the values of {}; the program was given asterisks{}\n",
               result.hidden, diverged ? ". If it acts on them, record with --keep-env NAME" : "");
  if (result.text.empty() && !result.missing.empty()) {
    fmt::print(stderr, "reweave: {}; everything in it was replayed\n", result.missing);
    return kExitTruncated;
  }
  if (result.text.empty()) return shell_status(result.wait_status);
  if (diverged)
    fmt::print(stderr, "reweave: Divergence: {}\n", result.text);
  else
    fmt::print(stderr, "reweave: {}\n", result.text);
  return exit_status_of(result.outcome);
}

// `replay -g RECORDING` stops at the end of RECORDING: an argument of -g that names a folder is the recording.
void settle_event(ReplayArguments& arguments) {
  if (arguments.recording.empty() && std::filesystem::is_directory(arguments.stop_event))
    std::swap(arguments.recording, arguments.stop_event);
  if (arguments.stop_event.empty()) arguments.stop_event = "end";
}

// gdb connects to the socket that was given.
int serve(const ReplayArguments& arguments, const std::string& recording) {
  const ReplaySource source = {std::filesystem::read_symlink("/proc/self/exe"), recording,
                               arguments.pid == 0 ? "" : std::to_string(arguments.pid), -1};
  return serve_gdb(source, arguments.stop_event, arguments.quiet, arguments.listener, arguments.hold_fd);
}

int replay(const ReplayArguments& arguments, bool debug, bool batch) {
  const std::string recording = recording_to_read(arguments.recording);
  if (arguments.listener >= 0) return serve(arguments, recording);
  if (arguments.hold_fd >= 0)
    return hold_for_debugger({recording, arguments.stop_event, arguments.pid, arguments.hold_fd, arguments.quiet,
                              arguments.check, arguments.makes_checkpoints, arguments.origin});
  if (debug) {
    // Before gdb starts, so that a bad recording is reported as by all verbs.
    if (!RecordingReader{recording}.is_whole())
      fmt::print(stderr, "reweave: the recording is truncated; gdb sees what there is of it\n");
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
  return report(replay_recording(recording, options), arguments.quiet);
}

}  // namespace

void add_replay_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* verb = app.add_subcommand("replay", "repeat a recorded run exactly");
  verb->footer(
      "Exits as the recorded program did; 3 if the replay diverged, 6 if the recording is truncated. With -g, exits as "
      "gdb does.");
  verb->add_option("recording", arguments->recording, "the recording; default: the latest");
  CLI::Option* stop = verb->add_option("-g,--goto", arguments->stop_event,
                                       "stop before this event or position, at the end, or at the moment from which "
                                       "on the run cannot but fail (`explain --save`), and start gdb")
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
  // Internal: it makes checkpoints on request, and starts from a checkpoint at an event, instead of the beginning.
  verb->add_flag("--checkpoints", arguments->makes_checkpoints)->group("");
  verb->add_option("--copy-of", arguments->origin.checkpoint)->group("");
  verb->add_option("--copy-event", arguments->origin.event)->group("");
  // Internal: be what gdb connects to (live/gdb_stub.h), over this listening socket.
  verb->add_option("--serve-gdb", arguments->listener)->group("");
  // Internal: gdb speaks MI, and the program's standard output goes to this descriptor (dap/gdb_process.py).
  verb->add_option("--gdb-mi", arguments->mi_output)->group("");
  verb->add_flag("--check", arguments->check, "compare registers and memory at each system call");
  verb->add_flag_callback(
      "-q,--quiet",
      [arguments] {
        arguments->quiet = true;
        set_loudness(Loudness::kQuiet);
      },
      "discard the program's output, and show no progress and no notices");
  verb->callback([arguments, stop, pid, batch, backward, &status] {
    settle_event(*arguments);
    if (arguments->stop_event.find('/') != std::string::npos) arguments->backward = true;  // the name of a position
    const bool debug = stop->count() + pid->count() + batch->count() + backward->count() != 0;
    status = replay(*arguments, debug, batch->count() != 0);
  });
}

}  // namespace reweave

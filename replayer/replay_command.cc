#include "replayer/replay_command.h"

#include <fmt/core.h>

#include <memory>

#include "formats/error.h"
#include "recorder/supervisor/record_session.h"
#include "recorder/supervisor/recordings.h"
#include "replayer/debugger.h"
#include "replayer/replay_session.h"

namespace reweave {

namespace {

struct ReplayArguments {
  std::string recording;
  std::uint64_t stop_event = ~std::uint64_t{0};
  std::string gdb_batch;
  bool check = false;
  bool quiet = false;
};

int report(const ReplayResult& result) {
  if (result.text.empty()) return shell_status(result.wait_status);
  if (result.outcome == wire::OutcomeKind::kDiverged)
    fmt::print(stderr, "reweave: Divergence: {}\n", result.text);
  else
    fmt::print(stderr, "reweave: {}\n", result.text);
  return exit_status_of(result.outcome);
}

int replay(const ReplayArguments& arguments, bool debug) {
  const std::string recording = arguments.recording.empty() ? latest_recording() : arguments.recording;
  ReplayOptions options;
  options.check = arguments.check;
  options.discard_output = arguments.quiet;
  if (debug) {
    options.stop_event = arguments.stop_event;
    options.on_hold = [&](pid_t pid) { debug_process(pid, recording, arguments.gdb_batch); };
  }
  return report(replay_recording(recording, options));
}

}  // namespace

void add_replay_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* verb = app.add_subcommand("replay", "repeat a recorded run exactly");
  verb->footer("Exits as the recorded program did; 3 if the replay diverged.");
  verb->add_option("recording", arguments->recording, "the recording; default: the latest");
  CLI::Option* stop = verb->add_option("-g,--goto", arguments->stop_event, "stop before this event and start gdb")
                          ->type_name("EVENT");
  CLI::Option* batch = verb->add_option("--gdb-batch", arguments->gdb_batch,
                                        "commands for gdb, separated by ';', instead of a terminal");
  verb->add_flag("--check", arguments->check, "compare registers and memory at each system call");
  verb->add_flag("--quiet", arguments->quiet, "discard the program's output");
  verb->callback([arguments, stop, batch, &status] {
    status = replay(*arguments, stop->count() != 0 || batch->count() != 0);
  });
}

}  // namespace reweave

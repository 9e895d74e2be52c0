// The program `reweave`: one verb a command. The only place that catches errors.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <new>

#include "explorer/explore_command.h"
#include "formats/error.h"
#include "predictor/predict_command.h"
#include "recorder/supervisor/record_command.h"
#include "replayer/inspect_commands.h"
#include "replayer/pack_command.h"
#include "replayer/replay_command.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Records a multithreaded program without hardware counters, replays it, and finds the schedule that fails.",
      "reweave");
  app.require_subcommand(1);
  app.set_version_flag("--version", REWEAVE_VERSION);
  int status = 0;
  reweave::add_record_command(app, status);
  reweave::add_replay_command(app, status);
  reweave::add_inspect_commands(app, status);
  reweave::add_pack_command(app);
  reweave::add_predict_command(app, status);
  reweave::add_explore_command(app, status);
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : reweave::kExitBadInput;
  } catch (const reweave::Error& error) {
    fmt::print(stderr, "reweave: {}\n", error.what());
    return error.exit_code();
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "reweave: {}: {}\n", error.path1().string(), error.code().message());
    return reweave::kExitSystem;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "reweave: out of memory\n");
    return reweave::kExitSystem;
  } catch (const std::exception& error) {
    fmt::print(stderr, "reweave: internal error: {}\n", error.what());
    return reweave::kExitInternal;
  }
}

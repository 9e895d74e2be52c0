// The program `reweave`: one verb a command. The only place that catches errors.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>
#include <string_view>
#include <vector>

#include "explorer/explore_command.h"
#include "formats/error.h"
#include "predictor/predict_command.h"
#include "recorder/supervisor/init_process.h"
#include "recorder/supervisor/record_command.h"
#include "recorder/supervisor/unsaved.h"
#include "replayer/inspect_commands.h"
#include "replayer/pack_command.h"
#include "replayer/replay_command.h"

namespace {

struct Verbs {
  std::vector<std::string_view> names;
  void (*add)(CLI::App& app, int& status);
};

const Verbs kVerbs[] = {
    {{"record"}, reweave::add_record_command},
    {{reweave::kSaveRestVerb}, [](CLI::App& app, int&) { reweave::add_save_rest_command(app); }},
    {{"replay"}, reweave::add_replay_command},
    {{"dump", "traceinfo", "ps", "trace"}, reweave::add_inspect_commands},
    {{"pack"}, [](CLI::App& app, int&) { reweave::add_pack_command(app); }},
    {{"predict"}, reweave::add_predict_command},
    {{"explore"}, reweave::add_explore_command},
};

// The verb that the command line begins with, for the options of all take as long as the start of a small program; all
// of them if it begins with none. So a recording may have the name of a verb, too.
void add_verbs(CLI::App& app, int& status, std::string_view first) {
  const auto asked = std::find_if(std::begin(kVerbs), std::end(kVerbs), [first](const Verbs& verbs) {
    return std::find(verbs.names.begin(), verbs.names.end(), first) != verbs.names.end();
  });
  if (asked != std::end(kVerbs)) return asked->add(app, status);
  for (const Verbs& verbs : kVerbs) verbs.add(app, status);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Records a multithreaded program without hardware counters, replays it, and finds the schedule that fails.",
      "reweave");
  app.require_subcommand(1);
  app.set_version_flag("--version", REWEAVE_VERSION);
  int status = 0;
  add_verbs(app, status, argc > 1 ? argv[1] : "");
  try {
    reweave::leave_process_one();
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

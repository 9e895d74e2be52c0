// The program `reweave`: one verb per invocation. The only place that catches errors.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "explorer/campaigns/campaign_command.h"
#include "explorer/doctor/doctor_command.h"
#include "explorer/explain/explain_command.h"
#include "explorer/explore_command.h"
#include "explorer/hunt/hunt_command.h"
#include "explorer/words/escaping.h"
#include "explorer/words/examples.h"
#include "explorer/words/manners.h"
#include "explorer/words/places.h"
#include "explorer/words/suggestion.h"
#include "explorer/words/wording.h"
#include "formats/base/error.h"
#include "formats/base/terminal.h"
#include "predictor/predict_command.h"
#include "predictor/races/examine.h"
#include "predictor/suspects/suspects_command.h"
#include "recorder/supervisor/process/init_process.h"
#include "recorder/supervisor/process/own_limits.h"
#include "recorder/supervisor/record/record_command.h"
#include "recorder/supervisor/record/recordings.h"
#include "recorder/supervisor/ring/unsaved.h"
#include "replayer/dap_command.h"
#include "replayer/inspect_commands.h"
#include "replayer/pack_command.h"
#include "replayer/query_command.h"
#include "replayer/replay_command.h"
#include "replayer/trace_recording.h"

namespace {

struct Verbs {
  std::vector<std::string_view> names;
  void (*add)(CLI::App& app, int& status);
};

// The predictor runs no programs, so the functions that make traces are passed to it from here.
reweave::TraceMaker trace_maker() {
  const auto make = [](const std::string& recording, const std::string& output,
                       const std::function<void(std::uint64_t)>& progress) -> reweave::TraceShortfall {
    const reweave::TracedReplay traced = reweave::trace_recording(recording, output, progress);
    if (traced.whole) return {};
    return {traced.result.text, reweave::exit_status_of(traced.result.outcome)};
  };
  return {reweave::recording_to_read, make};
}

void add_predict_verb(CLI::App& app, int& status) { reweave::add_predict_command(app, status, trace_maker()); }

reweave::RaceOptions race_options() { return reweave::RaceOptions::of_environment(std::getenv("TSAN_OPTIONS")); }

// Replaces the addresses in a run's ending by names; keeps the addresses if the recording cannot be read. Only global
// variables have names here; `explain` finds those of other objects, for which it replays the run.
std::string ending_in_words(const std::string& recording, const std::string& message) {
  if (message.find(", pc 0x") == message.npos) return message;
  try {
    reweave::Places places(recording);
    std::string words = reweave::readable_outcome(message, places);
    if (message.starts_with("deadlock: ") && words.find(" at 0x") != words.npos)
      words += "\n  for the names of these objects: reweave explain " + reweave::shell_word(recording);
    return words;
  } catch (const reweave::Error&) {
    return message;
  }
}

void add_replay_verb(CLI::App& app, int& status) { reweave::add_replay_command(app, status, ending_in_words); }

void add_record_verb(CLI::App& app, int& status) {
  const auto examine = [](const std::string& recording, const std::function<void()>& progress) {
    reweave::fit_own_limits();
    const reweave::RaceVerdict verdict =
        reweave::report_races(recording, race_options(), trace_maker(), [&](std::uint64_t) { progress(); });
    return reweave::RaceExaminer::Verdict{verdict.reports, verdict.always, verdict.if_passed};
  };
  reweave::add_record_command(app, status, {[] { race_options(); }, examine}, ending_in_words);
}

const Verbs kVerbs[] = {
    {{"hunt"}, reweave::add_hunt_command},
    {{"record"}, add_record_verb},
    {{"replay"}, add_replay_verb},
    {{"explore"}, reweave::add_explore_command},
    {{"explain"}, reweave::add_explain_command},
    {{"doctor"}, reweave::add_doctor_command},
    {{"campaign"}, reweave::add_campaign_command},
    {{"predict"}, add_predict_verb},
    {{"suspects"}, [](CLI::App& app, int&) { reweave::add_suspects_command(app); }},
    {{"dump", "traceinfo", "ps", "trace"}, reweave::add_inspect_commands},
    {{"dap"}, [](CLI::App& app, int&) { reweave::add_dap_command(app); }},
    {{"query"}, reweave::add_query_command},
    {{"pack"}, [](CLI::App& app, int&) { reweave::add_pack_command(app); }},
    {{reweave::kSaveRestVerb}, [](CLI::App& app, int&) { reweave::add_save_rest_command(app); }},
};

// `reweave --help` lists the first verbs in a group of their own.
constexpr std::size_t kCommonVerbs = 6;
constexpr const char* kCommonGroup = "Common verbs";
constexpr const char* kOtherGroup = "Other verbs";

void add_examples(CLI::App& app) {
  for (CLI::App* verb : app.get_subcommands({})) {
    const std::string examples = reweave::examples_of(verb->get_name()), footer = verb->get_footer();
    if (!examples.empty()) verb->footer(footer.empty() ? examples : footer + "\n\n" + examples);
  }
}

// Adds only the verb with which the command line begins, because adding all of them takes as long as starting a small
// program. So a recording may have the name of a verb. Adds all verbs if the command line begins with none.
void add_verbs(CLI::App& app, int& status, std::string_view first) {
  const auto asked = std::find_if(std::begin(kVerbs), std::end(kVerbs), [first](const Verbs& verbs) {
    return std::find(verbs.names.begin(), verbs.names.end(), first) != verbs.names.end();
  });
  if (asked != std::end(kVerbs)) return asked->add(app, status);
  for (const Verbs& verbs : kVerbs) verbs.add(app, status);
  std::size_t number = 0;
  for (CLI::App* verb : app.get_subcommands({}))
    if (!verb->get_group().empty()) verb->group(number++ < kCommonVerbs ? kCommonGroup : kOtherGroup);
}

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const Verbs& verbs : kVerbs) names.insert(names.end(), verbs.names.begin(), verbs.names.end());
  return names;
}

std::string exit_statuses() {
  std::string text = "Exit statuses, besides those of recorded programs:";
  for (const reweave::ExitStatusRow& row : reweave::kExitStatuses)
    text += fmt::format("\n  {:<3} {}", row.status, row.text);
  return text;
}

// "the verbs are a, b, c", without the one that only `record` calls.
std::string verb_list() {
  std::string list;
  for (const std::string_view name : verb_names())
    if (name != reweave::kSaveRestVerb) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  return "the verbs are " + list;
}

// "; did you mean ...?" if there is a similar name.
std::string suggestion(std::string_view given, const std::vector<std::string_view>& names) {
  const std::string_view near = reweave::nearest_name(given, names);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

void require_verb(std::string_view first) {
  const std::vector<std::string_view> names = verb_names();
  if (first.starts_with('-') || std::find(names.begin(), names.end(), first) != names.end()) return;
  REQUIRE(!first.empty(), "give a verb; `reweave --help` lists them");
  REQUIRE(first.find('/') == first.npos, "there is no verb '{}'; to record a program: reweave record -- {}", first,
          first);
  const std::string near = suggestion(first, names);
  throw reweave::BadInput(fmt::format("there is no verb '{}'{}", first, near.empty() ? "; " + verb_list() : near));
}

// Describes, in one line, the first argument that the parser does not know; empty if it knows all of them.
std::string unexpected(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return "";
  const auto option = std::find_if(rest.begin(), rest.end(),
                                   [](const std::string& text) { return text.starts_with('-') && text != "--"; });
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (option == rest.end() || verbs.empty()) return fmt::format("unexpected argument '{}'", rest.front());
  std::vector<std::string> known;
  for (const CLI::Option* each : verbs.front()->get_options())
    for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string given = option->substr(0, option->find('='));
  return fmt::format("there is no option '{}'{}", given, suggestion(given, names));
}

// Describes the error in the command line, in one line.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (lacks || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    if (const std::string unknown = unexpected(app); !unknown.empty()) return unknown;
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  const std::string_view example = lacks && !verbs.empty() ? reweave::first_example_of(verbs.front()->get_name()) : "";
  return error.what() + (example.empty() ? "" : fmt::format("; example: {}", example));
}

// Turns an exception of a verb into a message and an exit status; the only place that does.
int tell(const CLI::App& app, const std::exception& thrown) {
  const auto say = [](const auto& message, int status) {
    fmt::print(stderr, "{} {}\n", reweave::styled(reweave::Style::kFailure, "reweave:", stderr), message);
    return status;
  };
  if (const auto* error = dynamic_cast<const CLI::ParseError*>(&thrown))
    return say(complaint(app, *error), reweave::kExitBadInput);
  if (const auto* error = dynamic_cast<const reweave::Error*>(&thrown)) return say(error->what(), error->exit_code());
  if (const auto* error = dynamic_cast<const std::filesystem::filesystem_error*>(&thrown))
    return say(error->path1().string() + ": " + error->code().message(), reweave::kExitSystem);
  if (dynamic_cast<const std::system_error*>(&thrown) != nullptr) return say(thrown.what(), reweave::kExitSystem);
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return say("out of memory", reweave::kExitSystem);
  return say(fmt::format("internal error: {}", thrown.what()), reweave::kExitInternal);
}

// Throws SystemError if standard output could not be written, even if the verb succeeded.
void require_written() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  const std::string reason = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
  throw reweave::SystemError(fmt::format("the standard output cannot be written{}", reason), errno);
}

// `reweave help VERB` is `reweave VERB --help`.
void take_help(int& argc, char** argv) {
  static char option[] = "--help";
  if (argc < 2 || std::string_view(argv[1]) != "help") return;
  argv[1] = argc > 2 ? argv[2] : option;
  if (argc > 2) argv[2] = option;
  argc = std::min(argc, 3);
}

int run(CLI::App& app, int argc, char** argv) {
  take_help(argc, argv);
  const std::string_view first = argc > 1 ? argv[1] : "";
  require_verb(first);
  if (first != "record" && first != reweave::kSaveRestVerb) reweave::fit_own_limits();
  int status = 0;
  add_verbs(app, status, first);
  add_examples(app);
  reweave::add_manners(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
  }
  std::cout.flush();
  require_written();
  reweave::tell_costs(first);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Records a multithreaded program without hardware counters, replays it, and finds the schedule that fails.",
      "reweave");
  app.require_subcommand(1);
  app.set_version_flag("--version", REWEAVE_VERSION);
  app.footer(exit_statuses());
  try {
    reweave::leave_process_one();
    return run(app, argc, argv);
  } catch (const std::exception& thrown) {
    return tell(app, thrown);
  }
}

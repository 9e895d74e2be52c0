#include "explorer/campaigns/campaign_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "explorer/campaigns/campaign_folder.h"
#include "explorer/campaigns/merge_folder.h"
#include "explorer/campaigns/new_campaign.h"
#include "explorer/campaigns/run_units.h"
#include "explorer/campaigns/slurm.h"
#include "explorer/campaigns/status.h"
#include "explorer/campaigns/unit.h"
#include "explorer/run/interruption.h"
#include "explorer/words/suggestion.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/number_check.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

namespace {

struct CampaignArguments {
  std::string action, folder, output, shard = "1/1";
  std::vector<std::string> recordings;
  CampaignPlan plan;
  unsigned jobs = 0;
  MergeOptions merge;
  ArrayOptions array;
  std::string round;
  bool json = false, github = false;
};

unsigned jobs_of(const CampaignArguments& arguments) {
  return arguments.jobs != 0 ? arguments.jobs : std::clamp(std::thread::hardware_concurrency(), 1U, 64U);
}

int make_new(const CampaignArguments& arguments) {
  REQUIRE(!arguments.recordings.empty(), "give the recordings to search from");
  const CampaignPlan plan = new_campaign(arguments.folder, arguments.plan, arguments.recordings);
  fmt::print("{}: {} of {}, from {}; to make them:\n  reweave campaign run {}\n", arguments.folder,
             counted(plan.all_units(), "unit"), counted(plan.runs, "run"), counted(plan.cases.size(), "recording"),
             arguments.folder);
  return 0;
}

int run(const CampaignArguments& arguments) {
  RunUnitsOptions options;
  options.jobs = jobs_of(arguments);
  options.shard = parse_shard(arguments.shard, kMostUnits);
  const CampaignFolder campaign(arguments.folder);
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  const RunUnitsResult result = run_units(campaign, options);
  fmt::print("{} made, {} there before\n", counted(result.made, "unit"), result.there);
  if (result.failed > 0)
    fmt::print("{} could not be made; `reweave explore --campaign {} --unit K` says why\n", result.failed,
               arguments.folder);
  if (result.waiting > 0)
    fmt::print("units that wait for the previous round: {}; run this again when that round is done\n", result.waiting);
  if (result.interrupted != 0) return 128 + result.interrupted;
  return result.failed + result.waiting > 0 ? kExitNotExamined : 0;
}

int print_status(const CampaignArguments& arguments) {
  const CampaignFolder campaign(arguments.folder);
  const CampaignStatus status = status_of(campaign);
  fmt::print("{}", arguments.json ? status_json(status) : status_text(status, arguments.folder));
  return 0;
}

int merge_all(const CampaignArguments& arguments) {
  MergeOptions options = arguments.merge;
  options.jobs = jobs_of(arguments);
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  return merge_into_folder(CampaignFolder(arguments.folder), arguments.output, options,
                           {arguments.json, arguments.github});
}

int print_script(const CampaignArguments& arguments) {
  const CampaignFolder campaign(arguments.folder);
  ArrayOptions options = arguments.array;
  options.round = arguments.round.empty() ? first_round_to_do(campaign) : std::stoull(arguments.round);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string folder = std::filesystem::absolute(campaign.path()).lexically_normal().string();
  fmt::print("{}", array_script(campaign.plan(), folder, program, options));
  return 0;
}

struct Action {
  const char* name;
  int (*run)(const CampaignArguments&);
  std::vector<std::string> options;  // names of those that it takes
};

const std::vector<Action>& actions() {
  static const std::vector<Action> all = {
      {"new",
       make_new,
       {"--units", "--rounds", "--runs", "--seed", "--depth", "--strategy", "--expect-status", "--fork-at", "--races",
        "--every-access"}},
      {"run", run, {"--jobs", "--shard"}},
      {"status", print_status, {"--json"}},
      {"merge", merge_all, {"--jobs", "--output", "--verify", "--minimise", "--json", "--github"}},
      {"sbatch", print_script, {"--round", "--at-once", "--time"}}};
  return all;
}

int act(const CLI::App& verb, const CampaignArguments& arguments) {
  const auto action = std::ranges::find(actions(), arguments.action, &Action::name);
  if (action == actions().end()) {
    std::vector<std::string_view> names;
    for (const Action& one : actions()) names.emplace_back(one.name);
    const std::string_view near = nearest_name(arguments.action, names);
    throw BadInput(fmt::format("there is no `campaign {}`{}", arguments.action,
                               near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  for (const CLI::Option* option : verb.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    const std::string name = "--" + option->get_lnames().front();
    const auto takes = [&](const Action& one) { return std::ranges::find(one.options, name) != one.options.end(); };
    const bool is_common =
        std::ranges::none_of(actions(), takes);  // an option of every verb (explorer/words/manners.h)
    REQUIRE(is_common || takes(*action), "{} is not an option of `campaign {}`", name, action->name);
  }
  REQUIRE(arguments.recordings.empty() || arguments.action == "new", "unexpected argument '{}'",
          arguments.recordings.front());
  return action->run(arguments);
}

void add_plan_options(CLI::App& verb, CampaignPlan& plan) {
  verb.add_option("--units", plan.units, "new: units of each recording")
      ->check(whole_number(1, kMostUnits))
      ->capture_default_str();
  verb.add_option("--rounds", plan.rounds,
                  "new: rounds of units; each round waits for the one before and begins with what it has learned")
      ->check(whole_number(1, kMostRounds))
      ->capture_default_str();
  verb.add_option("--runs", plan.runs, "new: runs of each unit")->check(whole_number(1))->capture_default_str();
  verb.add_option("--seed", plan.seed, "new: the same seed gives the same units")
      ->check(whole_number())
      ->capture_default_str();
  verb.add_option("--depth", plan.depth, "new: as of explore")->check(whole_number(1, 1000))->capture_default_str();
  verb.add_option("--strategy", plan.strategy, "new: as of explore")->capture_default_str();
  verb.add_option("--expect-status", plan.expected, "new: as of explore");
  verb.add_option("--fork-at", plan.fork_at, "new: as of explore");
  verb.add_flag("--races", plan.races, "new: as of explore");
  verb.add_flag("--every-access", plan.every_access, "new: as of explore");
}

}  // namespace

int explore_unit(const std::string& campaign, std::uint64_t unit) {
  receive_interruptions({SIGINT, SIGTERM, SIGHUP});
  return run_unit(CampaignFolder(campaign), unit);
}

void add_campaign_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<CampaignArguments>();
  CLI::App* verb = app.add_subcommand(
      "campaign", "search many recordings, or one recording for a long time, on one machine or many");
  verb->footer(
      "new makes the folder DIR, on a file system that all machines share, with copies of the recordings; run makes\n"
      "its units here; sbatch prints the script of a Slurm job array that does; `reweave explore --campaign DIR "
      "--unit K`\n"
      "makes one, for anything else that starts commands; status says how far they are; merge gathers what they have\n"
      "found in DIR/merged: failures.json, index.html, summary.md and a recording of each failure.\n"
      "Examples: reweave campaign new all ~/.local/share/reweave/test-*\n"
      "          reweave campaign sbatch all | sbatch\n"
      "          seq 0 7 | parallel reweave explore --campaign all --unit\n"
      "Exits 0; merge 10 if there is a failure that replays, 11 if no run could be examined; run 11 if units could "
      "not\n"
      "be made. Ctrl-C or SIGTERM ends run: its units keep what they have, marked as partial (128 + signal).");
  verb->add_option("action", arguments->action, "new, run, status, merge or sbatch")->required();
  verb->add_option("folder", arguments->folder, "the campaign's folder")->required();
  verb->add_option("recordings", arguments->recordings, "new: the recordings to search from");
  add_plan_options(*verb, arguments->plan);
  verb->add_option("-j,--jobs", arguments->jobs, "run, merge: processes that work at a time; default: all processors")
      ->check(whole_number(1, 64));
  verb->add_option("--shard", arguments->shard, "run: only the units of shard K of N, for N jobs of a CI service")
      ->type_name("K/N");
  verb->add_option("-o,--output", arguments->output, "merge: a new folder, in place of DIR/merged");
  verb->add_option("--verify", arguments->merge.verifications, "merge: replays of each failure")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  verb->add_option("--minimise", arguments->merge.minimise_runs, "merge: runs spent on each failure's schedule")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "status, merge: print JSON (docs/campaigns.md)");
  verb->add_flag("--github", arguments->github,
                 "merge: in a job of GitHub Actions, append the result to the job's summary, and annotate what fails")
      ->excludes("--json");
  verb->add_option("--round", arguments->round, "sbatch: of these units; default: the first that is not done")
      ->check(whole_number(0, kMostRounds));
  verb->add_option("--at-once", arguments->array.at_once, "sbatch: tasks at a time")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  verb->add_option("--time", arguments->array.time_limit, "sbatch: limit of a task's time, as Slurm has it")
      ->capture_default_str();
  verb->callback([arguments, verb, &status] { status = act(*verb, *arguments); });
}

}  // namespace reweave

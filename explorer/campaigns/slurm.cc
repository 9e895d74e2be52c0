#include "explorer/campaigns/slurm.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "explorer/run/child.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

// Slurm's default MaxArraySize is 1001.
constexpr std::uint64_t kMostTasks = 1000;

// Nothing can be quoted in #SBATCH lines.
void require_plain(const std::string& path) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,:@=").find(c) != std::string_view::npos;
  };
  REQUIRE(std::ranges::all_of(path, is_plain),
          "a job script cannot name {}: move it to a path of letters, digits and /._-+,:@=", path);
}

std::string job_name(const CampaignPlan& plan, std::uint64_t round) {
  return fmt::format("reweave-{}-{}", plan.id, round);
}

// The names of the jobs of all rounds, in the form that squeue and sacct take.
std::string job_names(const CampaignPlan& plan) {
  std::string names;
  for (std::uint64_t round = 0; round < plan.rounds; round++)
    names += (names.empty() ? "" : ",") + job_name(plan, round);
  return names;
}

// The output of a command; nothing if it does not exist or fails.
std::optional<std::string> answer_of(const std::vector<std::string>& words) {
  try {
    ChildCommand command;
    command.argv = words;
    return output_of(command);
  } catch (const BadInput&) {
    return {};
  }
}

}  // namespace

std::string array_script(const CampaignPlan& plan, const std::string& folder, const std::string& program,
                         const ArrayOptions& options) {
  require_plain(folder);
  require_plain(program);
  REQUIRE(options.time_limit.find_first_not_of("0123456789:-") == std::string::npos && !options.time_limit.empty(),
          "'{}' is not a time limit such as 01:00:00", options.time_limit);
  REQUIRE(options.round < plan.rounds, "the campaign has the rounds 0 to {}", plan.rounds - 1);
  const std::uint64_t units = plan.round_units(), each = (units + kMostTasks - 1) / kMostTasks;
  const std::uint64_t tasks = (units + each - 1) / each, first = options.round * units;
  return fmt::format(
      "#!/bin/sh\n"
      "# Units {} to {} of a campaign of reweave: round {} of {}. If submitted again, it makes only the missing "
      "units.\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=0-{}%{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --time={}\n"
      "#SBATCH --signal=B:TERM@60\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output={}/logs/%A_%a.txt\n"
      "unit=$(({} + SLURM_ARRAY_TASK_ID * {}))\n"
      "end=$((unit + {}))\n"
      "[ $end -le {} ] || end={}\n"
      "worker= stopped= worst=0\n"
      "trap 'stopped=1; [ -z \"$worker\" ] || kill -TERM \"$worker\"' TERM\n"
      "while [ $unit -lt $end ] && [ -z \"$stopped\" ]; do\n"
      "  {} explore --campaign {} --unit $unit &\n"
      "  worker=$!\n"
      "  wait $worker\n"
      "  status=$?\n"
      "  # A signal ends the first wait before the worker has published what it has.\n"
      "  [ -z \"$stopped\" ] || {{ wait $worker; status=$?; }}\n"
      "  [ $status -eq 0 ] || worst=$status\n"
      "  unit=$((unit + 1))\n"
      "done\n"
      "exit $worst\n",
      first, first + units - 1, options.round, plan.rounds, job_name(plan, options.round), tasks - 1,
      std::max<std::uint64_t>(options.at_once, 1), options.time_limit, folder, first, each, each, first + units,
      first + units, program, folder);
}

std::optional<SlurmJobs> slurm_jobs(const CampaignPlan& plan) {
  const auto queue = answer_of({"squeue", "-h", "-r", "-o", "%t", "--name=" + job_names(plan)});
  if (!queue) return {};
  SlurmJobs jobs;
  std::istringstream states(*queue);
  for (std::string state; states >> state;) (state == "PD" ? jobs.pending : jobs.running)++;
  const auto accounts = answer_of({"sacct", "-n", "-X", "-P", "-o", "restarts", "--name=" + job_names(plan)});
  if (!accounts) return jobs;
  std::istringstream restarts(*accounts);
  for (std::string line; std::getline(restarts, line);) {
    std::uint64_t times = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), times).ec == std::errc{}) jobs.requeued += times;
  }
  return jobs;
}

}  // namespace reweave

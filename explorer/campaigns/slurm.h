// Runs a campaign with Slurm: the script of a job array, and the state of the jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "explorer/campaigns/plan.h"

namespace reweave {

struct ArrayOptions {
  std::uint64_t round = 0;
  std::uint64_t at_once = 16;           // tasks of the array
  std::string time_limit = "01:00:00";  // of a task, in Slurm's notation
};

// The script of the job array that runs the units of a round. All nodes must find `folder`, an absolute path, and
// `program`. Throws BadInput if one of these names cannot be written in a script.
std::string array_script(const CampaignPlan& plan, const std::string& folder, const std::string& program,
                         const ArrayOptions& options);

struct SlurmJobs {
  std::uint64_t running = 0, pending = 0;  // tasks of arrays
  std::uint64_t requeued = 0;              // number of restarts of tasks; 0 if sacct cannot say
};
// The state of the campaign's jobs according to squeue and sacct; nothing if squeue is missing or does not answer.
std::optional<SlurmJobs> slurm_jobs(const CampaignPlan& plan);

}  // namespace reweave

// Slurm as the engine of a campaign: the script of a job array, and what its commands say of the jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "explorer/campaigns/plan.h"

namespace reweave {

struct ArrayOptions {
  std::uint64_t round = 0;
  std::uint64_t at_once = 16;           // tasks of the array
  std::string time_limit = "01:00:00";  // of a task, as Slurm has it
};

// The script of the job array that makes the units of a round. `folder`, an absolute path, and `program` are what all
// nodes find. Throws BadInput if such a name cannot be in a script.
std::string array_script(const CampaignPlan& plan, const std::string& folder, const std::string& program,
                         const ArrayOptions& options);

struct SlurmJobs {
  std::uint64_t running = 0, pending = 0;  // tasks of arrays
  std::uint64_t requeued = 0;              // times that tasks were started anew; 0 if sacct cannot say
};
// What squeue and sacct say of the campaign's jobs; nothing if there is no squeue, or it does not answer.
std::optional<SlurmJobs> slurm_jobs(const CampaignPlan& plan);

}  // namespace reweave

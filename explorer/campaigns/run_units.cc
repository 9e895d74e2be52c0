#include "explorer/campaigns/run_units.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "explorer/run/interruption.h"
#include "formats/base/error.h"
#include "formats/base/exit_status.h"
#include "formats/base/progress_line.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned kUnitTries = 2;

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
  return allowed;
}

[[noreturn]] void become_unit(const std::string& campaign, std::uint64_t unit, int processor, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is ours: we ask the units to stop
  if (processor >= 0) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    sched_setaffinity(0, sizeof only, &only);
  }
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, 0), dup2(null, 1);
  const std::string number = std::to_string(unit);
  execl("/proc/self/exe", "reweave", "explore", "--campaign", campaign.c_str(), "--unit", number.c_str(), nullptr);
  _exit(127);
}

// The units of one round, some at a time.
class Round {
 public:
  Round(const CampaignFolder& campaign, const RunUnitsOptions& options, RunUnitsResult& result)
      : campaign_(campaign), lanes_(options.jobs, 0), processors_(allowed_processors()), result_(result) {}

  void run(std::deque<std::uint64_t> units) {
    const std::size_t all = units.size();
    waiting_ = std::move(units);
    while (!waiting_.empty() || !running_.empty()) {
      if (interruption() != 0) ask_to_stop();
      start_some();
      show(all);
      wait();
    }
  }

 private:
  struct Running {
    std::uint64_t unit;
    std::size_t lane;
  };

  void start_some() {
    for (std::size_t lane = 0; lane < lanes_.size() && !waiting_.empty(); lane++) {
      if (lanes_[lane] != 0) continue;
      const std::uint64_t unit = waiting_.front();
      waiting_.pop_front();
      const int processor = processors_.empty() ? -1 : processors_[lane % processors_.size()];
      const pid_t parent = getpid(), pid = SYSCALL_CHECK(fork(), "starting a unit");
      if (pid == 0) become_unit(campaign_.path(), unit, processor, parent);
      lanes_[lane] = pid;
      running_[pid] = {unit, lane};
    }
  }

  void ask_to_stop() {
    waiting_.clear();
    if (asked_) return;
    asked_ = true;
    for (const auto& [pid, unit] : running_) kill(pid, SIGTERM);
  }

  void wait() {
    if (running_.empty()) return;
    int status = 0;
    for (const auto& [pid, unit] : running_) {
      const pid_t ended = waitpid(pid, &status, WNOHANG);
      if (ended == pid) return ended_unit(pid, status);
      SYSCALL_CHECK(ended < 0 && errno != EINTR ? -1 : 0, "waiting for a unit");
    }
    constexpr useconds_t kPause = 5000;
    usleep(kPause);
  }

  void ended_unit(pid_t pid, int status) {
    const Running ended = running_.at(pid);
    running_.erase(pid);
    lanes_[ended.lane] = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      result_.made++;
      return;
    }
    if (asked_) return;
    if (WIFSIGNALED(status)) {
      progress_.clear();
      fmt::print(stderr, "reweave: unit {} was killed by signal {}\n", ended.unit, WTERMSIG(status));
    }
    if (++tries_[ended.unit] < kUnitTries)
      waiting_.push_back(ended.unit);
    else
      result_.failed++;
  }

  void show(std::size_t all) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    progress_.show(progress_texts("units", fmt::format("{} at a time", running_.size()),
                                  all - waiting_.size() - running_.size(), all, seconds));
  }

  const CampaignFolder& campaign_;
  std::vector<pid_t> lanes_;  // 0: free
  const std::vector<int> processors_;
  RunUnitsResult& result_;
  std::deque<std::uint64_t> waiting_;
  std::map<pid_t, Running> running_;
  std::map<std::uint64_t, unsigned> tries_;
  bool asked_ = false;
  const Clock::time_point start_ = Clock::now();
  ProgressLine progress_;
};

}  // namespace

RunUnitsResult run_units(const CampaignFolder& campaign, const RunUnitsOptions& options) {
  const CampaignPlan& plan = campaign.plan();
  campaign.remove_leftovers();
  RunUnitsResult result;
  std::set<std::uint64_t> blocked;  // cases of which units are missing
  for (std::uint64_t round = 0; round < plan.rounds && interruption() == 0; round++) {
    std::set<std::uint64_t> done;
    for (const auto& entry : campaign.list(Published::kUnits)) done.insert(entry.number);
    std::deque<std::uint64_t> units;
    for (std::uint64_t i = 0; i < plan.round_units(); i++) {
      const std::uint64_t unit = round * plan.round_units() + i;
      if (!options.shard.has(unit)) continue;
      if (done.contains(unit))
        result.there++;
      else if (blocked.contains(place_of(plan, unit).case_index))
        result.waiting++;
      else
        units.push_back(unit);
    }
    Round(campaign, options, result).run(units);
    done.clear();
    for (const auto& entry : campaign.list(Published::kUnits)) done.insert(entry.number);
    for (std::uint64_t i = 0; i < plan.round_units(); i++)
      if (const std::uint64_t unit = round * plan.round_units() + i; !done.contains(unit))
        blocked.insert(place_of(plan, unit).case_index);
  }
  result.interrupted = interruption();
  return result;
}

}  // namespace reweave

// Runs that left the recording where no passing run went.
//
// A run that fails often does what the passing run never did: it opens a log file, asks for the host name, writes to a
// socket. The recording cannot answer everything, so such a run cannot be followed to its end, and whether it would
// fail is not known. It is suspected, and worth a look, if the thread that left took a step that no passing run took.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explorer/run/run.h"
#include "explorer/words/places.h"

namespace reweave {

class Unfinished {
 public:
  // `places` must outlive this object.
  explicit Unfinished(const Places& places) : places_(places) {}

  struct Run {
    RunResult run;  // observed
    RunRequest request;
    std::string how;
    std::uint64_t number;  // of the campaign's runs
  };

  // Learns from an observed run: where one left the recording, and after that the steps of those that pass. Ignores
  // others.
  void learn(const RunResult& run, const RunRequest& request, const std::string& how, std::uint64_t number);
  bool any_left() const { return !left_.empty(); }
  // The runs that are suspected by what is known now; none if no run passed. Valid until the next call of learn().
  std::vector<const Run*> suspected() const;

 private:
  // Code of the program that a thread executed, and the code of the thread's next operation, which may be in a library.
  using Step = std::pair<std::uint64_t, std::uint64_t>;
  static constexpr std::size_t kMostRuns = 16;  // that left in different ways

  template <typename Visit>
  void visit_steps(const Observation& run, const Visit& visit) const;
  bool is_suspected(const RunResult& run) const;

  const Places& places_;
  std::set<Step> passed_;  // steps of passing runs
  std::vector<Run> left_;  // one for each way of leaving
};

}  // namespace reweave

// Makes predictions while a campaign makes its runs: a separate process traces a recording and predicts bugs in other
// orders.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "explorer/campaign/candidate_feed.h"
#include "explorer/run/run.h"

namespace reweave {

class Prediction : public CandidateFeed {
 public:
  // Keeps a run of the campaign as a recording.
  using SaveRun = std::function<void(const RunResult&, const std::string& path)>;

  // `folder` exists and receives the candidates, one file per prediction. A prediction that takes longer than `seconds`
  // is given up. Does not start one yet.
  Prediction(std::string folder, double seconds, SaveRun save)
      : folder_(std::move(folder)), seconds_(seconds), save_(std::move(save)) {}
  // Ends the process, if one is running.
  ~Prediction() override;
  Prediction(const Prediction&) = delete;
  Prediction& operator=(const Prediction&) = delete;

  // Starts a prediction from this recording. Requires that none is running.
  void start(const std::string& recording);
  // Starts further predictions, at doubling intervals. Each starts from the passing run that showed the most new orders
  // since the previous prediction. `news`: how many orders of conflicting accesses the run was the first to show.
  void learn(const RunResult& run, std::size_t news);
  // Makes take() wait for the running prediction. For short runs this takes only a moment, and a campaign that waits
  // does not depend on timing.
  void wait_for_each(bool waits) { waits_ = waits; }

  std::optional<CandidateSet> take() override;

  // A summary of all predictions, for people.
  std::string report() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool under_way() const { return pid_ > 0; }
  bool has_ended(int& status);
  void stop();
  void remove_own_recording();
  std::string file(const char* what) const;
  [[noreturn]] void predict(const std::string& recording) const;

  const std::string folder_;
  const double seconds_;
  const SaveRun save_;
  bool waits_ = false;
  pid_t pid_ = -1;
  Clock::time_point started_;
  unsigned number_ = 0;  // number of predictions started
  std::uint64_t candidates_ = 0;
  double taken_ = 0;     // seconds, in total
  std::string problem_;  // the first problem
  RunResult newest_;     // the best run since the last prediction was started
  std::size_t most_news_ = 0;
  std::uint64_t runs_ = 0, every_ = 100;  // runs since then, and the least number before the next
  std::string own_recording_;             // the recording predicted from; empty: the campaign's
};

}  // namespace reweave

// Predictions that are made beside the runs of a campaign: a process of its own traces a recording and looks in the
// trace for what could go wrong in another order.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "explorer/candidate_feed.h"
#include "explorer/run.h"

namespace reweave {

class Prediction : public CandidateFeed {
 public:
  // Keeps a run of the campaign as a recording.
  using SaveRun = std::function<void(const RunResult&, const std::string& path)>;

  // `folder` exists and gets the candidates, one file a prediction. A prediction that takes longer than `seconds` is
  // given up. Starts nothing.
  Prediction(std::string folder, double seconds, SaveRun save)
      : folder_(std::move(folder)), seconds_(seconds), save_(std::move(save)) {}
  // Ends the process.
  ~Prediction() override;
  Prediction(const Prediction&) = delete;
  Prediction& operator=(const Prediction&) = delete;

  // Predicts from this recording. None is under way.
  void start(const std::string& recording);
  // Of runs that passed and showed something new, the one with most is predicted from as well, after each time twice as
  // many runs. `news`: how many orders of conflicting accesses the run was the first to show.
  void learn(const RunResult& run, std::size_t news);
  // take() waits for what is under way. Short runs are predicted from within a moment, and a campaign that waits does
  // not depend on time.
  void wait_for_each(bool waits) { waits_ = waits; }

  std::optional<CandidateSet> take() override;

  // What came of all of them, for people.
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
  unsigned number_ = 0;  // of predictions begun
  std::uint64_t candidates_ = 0;
  double taken_ = 0;     // seconds, of all
  std::string problem_;  // the first
  RunResult newest_;     // of the runs since the last prediction was begun
  std::size_t most_news_ = 0;
  std::uint64_t runs_ = 0, every_ = 100;  // runs since then, and at least until the next
  std::string own_recording_;             // that is predicted from; empty: the campaign's
};

}  // namespace reweave

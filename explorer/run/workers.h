// The processes that make a campaign's runs, each with a fork server on a processor of its own.
//
// Runs are started on the workers in turn, and results are taken in the order in which the runs were started, so a
// campaign does not depend on timing. A worker receives its next request while it still makes a run, so it never waits
// for this process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/run/fork_server.h"

namespace reweave {

// A process with a fork server. Requests and results go through two socket pairs.
class Worker {
 public:
  // Throws Error if the recording cannot be explored.
  Worker(const std::string& recording, std::uint64_t fork_at, std::chrono::steady_clock::time_point deadline);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start(const RunRequest& request);
  // Returns nothing if the worker's process ended in the middle of the run.
  std::optional<RunResult> finish();
  // Takes no more results and does not wait for runs in progress.
  void stop();
  const Departure& departure() const { return departure_; }

 private:
  Departure departure_;
  std::shared_ptr<const QuietSites> sent_;  // the quiet sites that it has received
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

class Workers {
 public:
  // `fork_at` and `deadline`: see ForkServer.
  Workers(const std::string& recording, std::uint64_t fork_at, unsigned count,
          std::chrono::steady_clock::time_point deadline);
  ~Workers();

  std::size_t capacity() const { return kAhead * workers_.size(); }
  std::size_t started() const { return started_.size(); }
  void start(const RunRequest& request);  // requires started() < capacity()
  // The run that was started first, and its result.
  struct Done {
    RunRequest request;
    RunResult result;
  };
  Done finish();
  // Starts a run and finishes it at once, out of turn. Runs in progress are completed first, and their results kept.
  RunResult run(const RunRequest& request);
  Departure departure() const;

 private:
  struct Started {
    RunRequest request;
    std::size_t worker;  // index
    std::optional<RunResult> result;
  };
  static constexpr std::size_t kAhead = 2;  // most runs that a worker has at a time
  void complete(Started& run);
  void replace(std::size_t worker);
  std::function<std::unique_ptr<Worker>()> make_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t next_ = 0;
  std::deque<Started> started_;
};

}  // namespace reweave

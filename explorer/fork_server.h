// The supervisor's side of the fork server (recorder/core/explored/fork_server.h): explored runs of one recording.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "explorer/run.h"
#include "formats/recorded_files.h"
#include "formats/recording_reader.h"
#include "recorder/supervisor/target.h"

namespace reweave {

// Where explored runs leave their recording.
struct Departure {
  std::uint64_t from = 0;            // at which place of it (recorder/beginning.h)
  std::uint64_t prefix_records = 0;  // of the recording before that, which every run shares
  std::uint64_t recorded_steps = 0;  // schedule points of the recorded run from there on
  bool has_sleds = false;            // accesses are points of explored runs, and were none of the recorded one
};

// Owns the server process. One thread.
class ForkServer {
 public:
  // Replays the recording up to `fork_at` (recorder/beginning.h), with all threads that live there. Throws Error if it
  // does not get there, or runs cannot begin there. A run that is under way at `deadline` is called off.
  ForkServer(const std::string& recording, std::uint64_t fork_at, std::chrono::steady_clock::time_point deadline);

  RunResult run(const RunRequest& request);

  Departure departure() const;

 private:
  void feed_all();
  void wait_until_ready();
  std::uint64_t departure_step() const;
  void prepare(const RunRequest& request);
  void make_fair();
  bool others_can_run();
  void silence(const std::shared_ptr<const QuietSites>& quiet);
  // Why the run was killed; null: it ended.
  const char* await_end();
  void collect(std::vector<std::byte>& to);
  RunResult result(const char* killed) const;

  RecordingReader reader_;
  RecordedFiles files_;
  ArenaMemory server_;
  ArenaMemory runs_;
  std::unique_ptr<Target> target_;
  std::uint64_t fork_at_;
  std::chrono::steady_clock::time_point deadline_;
  std::uint64_t prefix_records_ = 0;
  std::uint64_t last_step_ = 0;
  std::uint32_t requests_ = 0;
  std::shared_ptr<const QuietSites> quiet_;  // what the runs' arena has
  std::vector<std::byte> records_;
};

}  // namespace reweave

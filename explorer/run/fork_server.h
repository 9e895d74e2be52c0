// The supervisor's side of the fork server (recorder/core/explored/fork_server.h): explored runs of one recording.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "explorer/run/run.h"
#include "formats/recording/recorded_files.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/target/target.h"

namespace reweave {

// The place at which explored runs leave their recording.
struct Departure {
  std::uint64_t from = 0;            // the place, encoded as in recorder/beginning.h
  std::uint64_t prefix_records = 0;  // records before it, which all runs share
  std::uint64_t recorded_steps = 0;  // schedule points of the recorded run after it
  bool has_sleds = false;            // accesses are schedule points in explored runs, but were not in the recorded one
};

// Owns the server process. One thread.
class ForkServer {
 public:
  // Replays the recording up to `fork_at` (recorder/beginning.h), with all threads that exist there. Throws Error if
  // the replay does not reach it, or runs cannot begin there. A run in progress at `deadline` is called off.
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
  // Waits for the end of the run. Returns the reason why it was killed; null if it ended itself.
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
  std::shared_ptr<const QuietSites> quiet_;  // the sites in the runs' arena
  std::vector<std::byte> records_;
};

}  // namespace reweave

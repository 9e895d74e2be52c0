// A child process that replays the recording for this one: `reweave replay --hold-fd` (hold_command.h).
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/fd.h"

namespace reweave {

// The recording to replay, and the process and output of the replay.
struct ReplaySource {
  std::string program;  // path of this program
  std::string recording;
  std::string pid;  // recorded id of the process to debug; empty: see plan_hold
  int output = -1;  // descriptor of the program's output; -1: our standard output
};

// A process stopped before an event, from which copies of a replay start.
struct Checkpoint {
  std::uint64_t event = 0;
  pid_t pid = 0;
  Fd requests;
};

struct HelperTask {
  std::string where;                 // first place to hold: an event, or "end"
  bool quiet = true;                 // discard the program's output
  bool makes_checkpoints = false;    // on request
  const Checkpoint* from = nullptr;  // checkpoint to start from; null: start at the beginning
};

class ReplayHelper {
 public:
  // Starts the helper at once.
  ReplayHelper(const ReplaySource& source, const HelperTask& task);
  // Ends the helper's replay, and waits for that.
  ~ReplayHelper();
  ReplayHelper(const ReplayHelper&) = delete;
  ReplayHelper& operator=(const ReplayHelper&) = delete;

  // Waits for the helper's next answer; nothing if it has ended.
  std::optional<nlohmann::json> answer(std::vector<Fd>& passed);
  // False if the helper has ended.
  bool tell(std::string_view request) const;
  // Waits for the helper's end and returns its wait(2) status.
  int status();

 private:
  Fd input_, answers_;
  std::string rest_;  // bytes read after the last answer
  pid_t pid_ = 0;
};

}  // namespace reweave

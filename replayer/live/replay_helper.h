// A process beside this one that replays for it: `reweave replay --hold-fd` (hold_command.h).
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/fd.h"

namespace reweave {

// What is replayed.
struct ReplaySource {
  std::string program;  // this one
  std::string recording;
  std::string pid;  // the process to look at, as recorded; empty: see plan_hold
  int output = -1;  // where the program writes to; -1: our standard output
};

// A process that copies of a replay start from, before an event.
struct Checkpoint {
  std::uint64_t event = 0;
  pid_t pid = 0;
  Fd requests;
};

struct HelperTask {
  std::string where;                 // to hold at first: an event, or "end"
  bool quiet = true;                 // what the program writes is discarded
  bool makes_checkpoints = false;    // on request
  const Checkpoint* from = nullptr;  // where to start; null: at the beginning
};

class ReplayHelper {
 public:
  // Starts at once.
  ReplayHelper(const ReplaySource& source, const HelperTask& task);
  // Ends its replay, and waits for that.
  ~ReplayHelper();
  ReplayHelper(const ReplayHelper&) = delete;
  ReplayHelper& operator=(const ReplayHelper&) = delete;

  // Waits for its next answer. None: it has ended.
  std::optional<nlohmann::json> answer(std::vector<Fd>& passed);
  // False: it has ended.
  bool tell(std::string_view request) const;
  // After it has ended: its wait(2) status.
  int status();

 private:
  Fd input_, answers_;
  std::string rest_;  // of what was read
  pid_t pid_ = 0;
};

}  // namespace reweave

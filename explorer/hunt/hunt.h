// A hunt: from a command that fails sometimes to recordings that fail every time, in one folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explorer/hunt/hunt_result.h"
#include "explorer/hunt/target_hunter.h"
#include "formats/base/fd.h"
#include "formats/base/folder.h"

namespace reweave {

class Hunt {
 public:
  struct Choice {
    std::string test_case;  // --case; empty: none
    std::string shard;      // --shard: only the tests of a shard such as 2/4; empty: all
    // Hunts before this one, files or folders. Tests that they searched are left out if they are as they were then.
    std::vector<std::string> since;
  };

  // Determines the targets: the program, or the tests of a test driver. Throws BadInput if there is none.
  Hunt(HuntOptions options, std::vector<std::string> command, Choice choice);

  // Takes the folder `path`, which is new or has an earlier hunt for the same command. If `path` is empty, takes the
  // first usable reweave-hunt-PROGRAM-N in the current folder. Throws BadInput if another hunt uses it.
  void take_folder(const std::string& path);
  // Hunts all targets one after the other and writes the reports. Returns the exit status.
  int run();

  const HuntResult& result() const { return result_; }
  const std::string& folder() const { return folder_->path(); }
  bool continues() const { return continues_; }
  // The command that continues this hunt.
  std::string resume_command() const;

 private:
  // Tries to take a folder. Returns why that is impossible; empty if it was taken.
  std::string try_folder(const std::string& path);
  std::string try_to_go_on(const HuntResult& before);
  void name_folders();
  void take_shard(std::vector<HuntTarget>& tests);
  void leave_out_unchanged();
  // Makes a hunter for the target, whose folder it creates, and lets `act` use it until `deadline`. Problems become the
  // target's.
  void with_hunter(TargetHunt& hunt, TargetHunter::Clock::time_point deadline,
                   const std::function<void(TargetHunter&)>& act);
  // The end of an equal share of the time that is left.
  TargetHunter::Clock::time_point share_of_time(std::size_t targets_left) const;
  void write_reports() const;
  int status() const;

  HuntOptions options_;
  const Choice choice_;
  HuntResult result_;
  std::optional<Folder> folder_;
  Fd lock_{-1};  // locks the folder until this object is destroyed
  bool continues_ = false;
  TargetHunter::Clock::time_point start_;
};

}  // namespace reweave

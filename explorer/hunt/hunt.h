// A hunt: from a command that fails sometimes to recordings that fail every time, in one folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explorer/hunt/hunt_result.h"
#include "explorer/hunt/target_hunter.h"
#include "formats/fd.h"
#include "formats/folder.h"

namespace reweave {

class Hunt {
 public:
  // Finds out what is to be hunted: the program, or the tests of a test driver. Throws BadInput if there is nothing
  // that can be.
  Hunt(HuntOptions options, std::vector<std::string> command, std::string test_case);

  // Takes the folder `path`, new or of a hunt of the same; empty: reweave-hunt-PROGRAM-N in the current one, that of
  // the last hunt of the same or a new one. Throws BadInput if another hunt has it.
  void take_folder(const std::string& path);
  // Hunts all targets, one after the other, and writes the reports. The exit status.
  int run();

  const HuntResult& result() const { return result_; }
  const std::string& folder() const { return folder_->path(); }
  bool goes_on() const { return goes_on_; }
  // The command that goes on with it.
  std::string resume_command() const;

 private:
  // Why a folder is of no use to this hunt; empty if it was taken.
  std::string try_folder(const std::string& path);
  std::string try_to_go_on(const HuntResult& before);
  void name_folders();
  void hunt_target(std::size_t number);
  void write_reports() const;
  int status() const;

  const HuntOptions options_;
  const std::string given_case_;
  HuntResult result_;
  std::optional<Folder> folder_;
  Fd lock_{-1};  // on the folder, while this lives
  bool goes_on_ = false;
  TargetHunter::Clock::time_point start_;
};

}  // namespace reweave

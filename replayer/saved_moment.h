// The moment after which a run was bound to fail, as `explain --save` stored it in the recording's folder.
#pragma once

#include <string>

namespace reweave {

// Names in the recording's folder: the explanation as JSON (docs/explanation-format.md), and the explained run if that
// is not the recording itself.
inline constexpr const char* kExplanationFile = "explanation.json";
inline constexpr const char* kExplainedRun = "explained";

struct SavedMoment {
  std::string recording;  // path of the explained run
  std::string name;       // "THREAD:ADDRESS:NUMBER": the thread has executed the operation there for the number-th time
};
// Throws BadInput if the recording has no saved moment.
SavedMoment read_moment(const std::string& recording);

}  // namespace reweave

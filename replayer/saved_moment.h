// The moment from which on a failing run cannot but fail, as `explain --save` left it beside the recording.
#pragma once

#include <string>

namespace reweave {

// In the recording's folder: the explanation's JSON (docs/explanation-format.md), and the run that it is about if that
// is not the recording itself.
inline constexpr const char* kExplanationFile = "explanation.json";
inline constexpr const char* kExplainedRun = "explained";

struct SavedMoment {
  std::string recording;  // of the explained run
  std::string name;       // "THREAD:ADDRESS:NUMBER": the thread has executed the operation there for the number-th time
};
// Throws BadInput if there is none.
SavedMoment read_moment(const std::string& recording);

}  // namespace reweave

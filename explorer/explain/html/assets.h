// The script and the style of a report, which the build takes from the files beside this one (embed.py).
#pragma once

#include <string_view>

namespace reweave {

extern const std::string_view kReportScript, kReportStyle;
// "sha256-...", as a content security policy names them.
extern const std::string_view kReportScriptHash, kReportStyleHash;

}  // namespace reweave

// The script and the style of a report, which the build generates from the files in this folder (embed.py).
#pragma once

#include <string_view>

namespace reweave {

extern const std::string_view kReportScript, kReportStyle;
// "sha256-...", as a content security policy names them.
extern const std::string_view kReportScriptHash, kReportStyleHash;

}  // namespace reweave

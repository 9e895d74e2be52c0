// What GitHub Actions shows of a job besides its log: annotations, and the job's summary.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

// A line for standard output that annotates the job with an error, and the file if it is not empty (`line` 0: none).
// Whatever is in the texts, it is one command of the runner and not two.
std::string github_error(const std::string& title, const std::string& message, const std::string& file,
                         std::uint32_t line);
// Text for standard output in which the runner looks for no commands, whatever lines are in it.
std::string github_verbatim(const std::string& text);
// Throws BadInput if this is no job of GitHub Actions: there is no $GITHUB_STEP_SUMMARY.
void require_github();
// Appends Markdown to the file of that name. Throws BadInput if it cannot be written.
void append_github_summary(const std::string& markdown);

}  // namespace reweave

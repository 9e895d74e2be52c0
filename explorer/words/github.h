// Output for GitHub Actions besides the log: annotations, and the job's summary.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

// A line for standard output that annotates the job with an error, and `file` if it is not empty (`line` 0: none). The
// texts are escaped, so the line is always exactly one command of the runner.
std::string github_error(const std::string& title, const std::string& message, const std::string& file,
                         std::uint32_t line);
// Wraps text for standard output so that the runner executes no commands in it.
std::string github_verbatim(const std::string& text);
// Throws BadInput if this is not a job of GitHub Actions: $GITHUB_STEP_SUMMARY is not set.
void require_github();
// Appends Markdown to the file $GITHUB_STEP_SUMMARY. Throws BadInput if it cannot be written.
void append_github_summary(const std::string& markdown);

}  // namespace reweave

// What a merged campaign is told as. `folder` is where its recordings lie, as the user may name it.
#pragma once

#include <string>

#include "explorer/campaigns/merge.h"

namespace reweave {

// JSON (docs/campaigns.md). The same for the same units, whenever and wherever they were made.
std::string merged_json(const Merged& merged);
// For a terminal.
std::string merged_text(const Merged& merged, const std::string& folder);
// Markdown, such as CI shows of a job.
std::string merged_markdown(const Merged& merged, const std::string& folder);

// Pages that ask for nothing and run nothing: of all, and of one case with failures.
std::string merged_html(const Merged& merged);
std::string case_html(const MergedCase& merged);
std::string case_page_name(std::size_t case_index);

// In one line: what was found, or that nothing was; never that there is nothing.
std::string merged_verdict(const Merged& merged);
// Why a case says less than it could; empty if it does not.
std::string remark_of(const CaseFindings& findings);

}  // namespace reweave

// The reports of a merged campaign. `folder`: the folder of its recordings, as the user can name it.
#pragma once

#include <string>

#include "explorer/campaigns/merge.h"

namespace reweave {

// JSON (docs/campaigns.md). The same units give the same text, at any time and on any machine.
std::string merged_json(const Merged& merged);
// For a terminal.
std::string merged_text(const Merged& merged, const std::string& folder);
// Markdown, as a CI system shows it for a job.
std::string merged_markdown(const Merged& merged, const std::string& folder);

// Self-contained pages without scripts: one for the whole campaign, and one for each case with runs to show.
std::string merged_html(const Merged& merged);
bool has_page(const MergedCase& one);
std::string case_html(const MergedCase& merged);
std::string case_page_name(std::size_t case_index);

// One line: the number of failures, or that none was found. It never says that there are none.
std::string merged_verdict(const Merged& merged);
// The reasons why the result of a case is incomplete or limited; empty if there are none.
std::string remark_of(const CaseFindings& findings);

}  // namespace reweave

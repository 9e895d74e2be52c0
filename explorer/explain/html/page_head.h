// The head of a page that is one file: style, icon and policy are in it.
#pragma once

#include <string_view>

#include "explorer/explain/html/markup.h"

namespace reweave {

// `script_hash`: of the one script that may run, for the content security policy; empty: none may.
Html page_head(const Html& title, std::string_view script_hash = {});

}  // namespace reweave

// The head of a self-contained page, with its style, icon and security policy.
#pragma once

#include <string_view>

#include "explorer/explain/html/markup.h"

namespace reweave {

// `script_hash`: the hash of the only script that the content security policy allows; empty: none.
Html page_head(const Html& title, std::string_view script_hash = {});

}  // namespace reweave

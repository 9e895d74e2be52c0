// Paths in the formats of others.
#pragma once

#include <string>

namespace reweave {

// A path as the reference of a URI: what is neither plain nor a slash is escaped.
std::string uri_of(const std::string& path);

}  // namespace reweave

// Paths as URIs.
#pragma once

#include <string>

namespace reweave {

// A path as a URI reference: everything but unreserved characters and slashes is escaped.
std::string uri_of(const std::string& path);

}  // namespace reweave

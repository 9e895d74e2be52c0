// Files that a recording names only, for the packages of the system have them; of others it keeps the content.
#pragma once

namespace reweave {

inline constexpr const char* kSystemFolders[] = {"/usr/", "/lib", "/bin/"};

}  // namespace reweave

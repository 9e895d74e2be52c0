// Files that a recording only names, because the system's packages have them; of other files it keeps the contents.
#pragma once

namespace reweave {

inline constexpr const char* kSystemFolders[] = {"/usr/", "/lib", "/bin/"};

}  // namespace reweave

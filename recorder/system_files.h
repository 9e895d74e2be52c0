// Folders whose files a recording only names, because the system's packages provide them. A recording keeps the
// contents of other files.
#pragma once

namespace reweave {

inline constexpr const char* kSystemFolders[] = {"/usr/", "/lib", "/bin/"};

}  // namespace reweave

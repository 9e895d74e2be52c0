#include "formats/elf/source_lines.h"

#include <sys/stat.h>

#include <filesystem>
#include <iterator>

#include "formats/base/fd_stream.h"
#include "formats/base/folder.h"

namespace reweave {

namespace {

constexpr off_t kMaxSourceBytes = 16 << 20;

// Sources of another checkout have the same last parts of the name here. At least two must match, because one alone
// would often match another file.
Fd open_source(const std::filesystem::path& path) {
  Fd file = try_open_regular(path);
  if (file.valid() || !path.is_absolute()) return file;
  const std::filesystem::path parts = path.relative_path();
  for (auto first = parts.begin(); !file.valid() && std::distance(first, parts.end()) > 1; ++first) {
    std::filesystem::path rest;
    for (auto part = first; part != parts.end(); ++part) rest /= *part;
    file = try_open_regular(rest);
  }
  return file;
}

}  // namespace

std::vector<std::string> source_lines(const std::string& path) {
  Fd file = open_source(path);
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || status.st_size > kMaxSourceBytes) return {};
  FdInput in(std::move(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace reweave

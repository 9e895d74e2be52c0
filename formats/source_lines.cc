#include "formats/source_lines.h"

#include <sys/stat.h>

#include "formats/fd_stream.h"
#include "formats/folder.h"

namespace reweave {

namespace {

constexpr off_t kMaxSourceBytes = 16 << 20;

}  // namespace

std::vector<std::string> source_lines(const std::string& path) {
  Fd file = try_open_regular(path);
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || status.st_size > kMaxSourceBytes) return {};
  FdInput in(std::move(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace reweave

#include "formats/recording/stored_apart.h"

#include <sys/types.h>
#include <xxhash.h>

#include <cerrno>

#include "formats/base/error.h"

namespace reweave {
namespace {

constexpr const char* kReadsFile = "reads";

// Repeats pread(2) or pwrite(2) until all bytes are transferred. Returns the bytes transferred: fewer at the end of the
// file.
template <typename Call, typename Byte>
std::uint64_t transfer(Call call, int fd, Byte* data, std::uint64_t bytes, std::uint64_t position,
                       const std::string& path) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t n = call(fd, data + done, bytes - done, static_cast<off_t>(position + done));
    if (n < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(n, "{}", path);
    if (n == 0) break;
    done += static_cast<std::uint64_t>(n);
  }
  return done;
}

}  // namespace

wire::StoredApart ApartWriter::store(const std::byte* data, std::uint64_t bytes) {
  if (!file_.valid()) file_ = recording_.create_file(kReadsFile);
  transfer(::pwrite, file_.get(), data, bytes, end_, recording_.path_of(kReadsFile));
  const wire::StoredApart stored = {end_, XXH3_64bits(data, bytes)};
  end_ += bytes;
  return stored;
}

void ApartReader::read(const wire::StoredApart& stored, std::uint64_t bytes, std::uint8_t* to) {
  const auto fail = [&](Damage damage, const char* reason) {
    throw BadFile(recording_.path_of(kReadsFile), damage, 0, stored.position, reason);
  };
  if (!file_.valid() && !recording_.has(kReadsFile))
    fail(Damage::kCorrupt, "the recording refers to this file, and it is missing");
  if (!file_.valid()) file_ = recording_.open_file(kReadsFile);
  if (stored.position > INT64_MAX - bytes)
    fail(Damage::kCorrupt, "an output refers to a position after the end of every file");
  if (transfer(::pread, file_.get(), to, bytes, stored.position, recording_.path_of(kReadsFile)) < bytes)
    fail(Damage::kCorrupt, "the file is too short for an output");
  if (XXH3_64bits(to, bytes) != stored.hash) fail(Damage::kCorrupt, "checksum of an output");
}

}  // namespace reweave

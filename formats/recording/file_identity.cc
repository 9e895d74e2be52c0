#include "formats/recording/file_identity.h"

#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "formats/base/error.h"
#include "formats/elf/elf_file.h"

namespace reweave {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

// Feeds the file's content to `use(bytes)`.
template <typename Use>
void for_each_piece(int fd, const std::string& path, Use&& use) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, buffer.get(), kBufferBytes, at);
    if (got < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(got, "{}", path);
    if (got == 0) return;
    at += got;
    use(std::string_view(buffer.get(), static_cast<std::size_t>(got)));
  }
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using HashState = std::unique_ptr<XXH3_state_t, FreeState>;

HashState new_hash_state() {
  HashState state(XXH3_createState());
  CHECK(state != nullptr);
  XXH3_64bits_reset(state.get());
  return state;
}

}  // namespace

MappedFile identify_file(const std::string& path) {
  const Fd fd = open_regular(path);
  struct stat status {};
  SYSCALL_CHECK(::fstat(fd.get(), &status), "{}", path);
  MappedFile file;
  file.path = path;
  file.size = static_cast<std::uint64_t>(status.st_size);
  file.ctime_ns = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.build_id = build_id_of(fd);
  if (file.build_id.empty()) file.content_hash = content_hash_of(fd, path);
  return file;
}

std::string explain_difference(const MappedFile& wanted) {
  if (wanted.build_id.empty() && wanted.content_hash.empty()) return {};
  try {
    const Fd fd = open_regular(wanted.path);
    if (!wanted.build_id.empty()) {
      const std::string found = build_id_of(fd);
      if (found == wanted.build_id) return {};
      return fmt::format("{}: the recording has build-id {}, this file has {}", wanted.path, wanted.build_id,
                         found.empty() ? "none" : found);
    }
    if (content_hash_of(fd, wanted.path) == wanted.content_hash) return {};
    return fmt::format("{}: the content has changed since it was recorded", wanted.path);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string content_hash_of(const Fd& file, const std::string& path) {
  const HashState state = new_hash_state();
  for_each_piece(file.get(), path,
                 [&](std::string_view piece) { XXH3_64bits_update(state.get(), piece.data(), piece.size()); });
  return hash_text(XXH3_64bits_digest(state.get()));
}

std::string store_content(const Fd& source, const std::string& path, const Folder& folder) {
  // Hash the file while copying it and name the copy afterwards: reading it twice might see two versions.
  const std::string fresh = fmt::format("new-{}", ::getpid());
  const HashState state = new_hash_state();
  const Fd to = folder.recreate_file(fresh);
  try {
    for_each_piece(source.get(), path, [&](std::string_view piece) {
      XXH3_64bits_update(state.get(), piece.data(), piece.size());
      write_fully(to.get(), piece, folder.path_of(fresh));
    });
    const std::string name = hash_text(XXH3_64bits_digest(state.get()));
    folder.rename(fresh, name);
    return name;
  } catch (...) {
    folder.remove(fresh);
    throw;
  }
}

}  // namespace reweave

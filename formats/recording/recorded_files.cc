#include "formats/recording/recorded_files.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "formats/base/error.h"
#include "formats/recording/file_identity.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// The most bytes by which a copy may exceed the mapped file, which may have grown before it was copied. A larger copy
// is rejected without hashing it, to save time.
constexpr std::uint64_t kMostGrowth = 1u << 30;  // bytes

}  // namespace

std::string mapped_path(const wire::MapFileRecord& record) {
  const auto* text = reinterpret_cast<const char*>(&record + 1);
  return record.header.bytes <= sizeof record ? ""
                                              : std::string(text, strnlen(text, record.header.bytes - sizeof record));
}

RecordedFiles::RecordedFiles(const Folder& recording, const Manifest& manifest)
    : folder_(fs::absolute(recording.path_of("files")).string()) {
  for (const MappedFile& file : manifest.files) {
    if (file.stored_name.empty()) {
      on_machine_.push_back(file);
      continue;
    }
    copies_.push_back({file.path, file.stored_name, file.size});
    stored_[{file.path, file.ctime_ns, file.size}] = file.stored_name;
    last_stored_[file.path] = file.stored_name;
  }
  for (const DebugFile& file : manifest.debug_files) debug_files_[file.build_id] = file.stored_name;
  if (recording.has("files")) files_ = recording.open_folder("files");
}

RecordedFiles RecordedFiles::of_source(const std::string& recording) {
  try {
    const Folder folder = Folder::open(recording);
    return {folder, read_manifest(folder)};
  } catch (const Error&) {
    // The recording may have been removed or replaced since; then there are no copies.
    return {};
  }
}

void RecordedFiles::check() const {
  for (const Copy& copy : copies_) check_copy(copy);
  for (const MappedFile& file : on_machine_) {
    const std::string difference = explain_difference(file);
    REQUIRE(difference.empty(),
            "{} is not the file that was recorded: {}. Restore that version, or record again (`reweave pack` keeps a "
            "recording's files in it)",
            file.path, difference);
  }
}

// A copy is named by the hash of its content.
void RecordedFiles::check_copy(const Copy& copy) const {
  const std::string path = stored_path(copy.name);
  REQUIRE(files_ && files_->has(copy.name), "{} is missing: it is the recording's copy of {}", path, copy.path);
  const Fd file = files_->open_file(copy.name);
  struct stat status {};
  SYSCALL_CHECK(::fstat(file.get(), &status), "{}", path);
  const std::uint64_t bytes = static_cast<std::uint64_t>(status.st_size);
  const bool too_large = bytes > copy.recorded_bytes && bytes - copy.recorded_bytes > kMostGrowth;
  REQUIRE(!too_large && content_hash_of(file, path) == copy.name, "{} is damaged: it is the recording's copy of {}",
          path, copy.path);
}

Fd RecordedFiles::open_stored(const std::string& name) const {
  try {
    return files_ ? files_->open_file(name) : Fd();
  } catch (const Error&) {
    return {};
  }
}

Fd RecordedFiles::open(const std::string& path) const {
  const auto found = last_stored_.find(path);
  return found == last_stored_.end() ? try_open_regular(path) : open_stored(found->second);
}

Fd RecordedFiles::open_debug_file(const std::string& build_id) const {
  const auto found = debug_files_.find(build_id);
  return found == debug_files_.end() ? Fd() : open_stored(found->second);
}

const wire::RecordHeader* RecordedFiles::located(const wire::RecordHeader* record) {
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) return record;
  const auto& map = wire::record_cast<wire::MapFileRecord>(*record);
  if (map.header.bytes <= sizeof map) return record;
  const std::string path = mapped_path(map);
  const auto found = stored_.find({path, map.ctime_ns, map.file_size});
  const std::string opened = found == stored_.end() ? "" : stored_path(found->second);
  const std::uint64_t bytes = (sizeof map + path.size() + 1 + opened.size() + 1 + 7) / 8 * 8;
  changed_.assign(bytes / 8, 0);
  char* to = reinterpret_cast<char*>(changed_.data());
  std::memcpy(to, &map, sizeof map);
  std::memcpy(to + sizeof map, path.c_str(), path.size() + 1);
  std::memcpy(to + sizeof map + path.size() + 1, opened.c_str(), opened.size() + 1);
  auto* changed = reinterpret_cast<wire::RecordHeader*>(changed_.data());
  changed->bytes = static_cast<std::uint32_t>(bytes);
  return changed;
}

}  // namespace reweave

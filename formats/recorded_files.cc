#include "formats/recorded_files.h"

#include <cstring>
#include <filesystem>

#include "formats/error.h"
#include "formats/file_identity.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

std::string stored_path(const std::string& recording, const std::string& name) { return recording + "/files/" + name; }

// A copy is named by the hash of what it was made of.
void check_copy(const std::string& stored, const std::string& of) {
  REQUIRE(fs::exists(stored), "{} is missing: it is the recording's copy of {}", stored, of);
  REQUIRE(content_hash_of(stored) == fs::path(stored).filename(), "{} is damaged: it is the recording's copy of {}",
          stored, of);
}

}  // namespace

std::string mapped_path(const wire::MapFileRecord& record) {
  const auto* text = reinterpret_cast<const char*>(&record + 1);
  return record.header.bytes <= sizeof record ? ""
                                              : std::string(text, strnlen(text, record.header.bytes - sizeof record));
}

RecordedFiles::RecordedFiles(const std::string& recording, const Manifest& manifest) {
  const std::string folder = fs::absolute(recording).string();
  for (const MappedFile& file : manifest.files) {
    if (file.stored_name.empty()) {
      on_machine_.push_back(file);
      continue;
    }
    const std::string stored = stored_path(folder, file.stored_name);
    copies_.push_back({file.path, stored});
    stored_[{file.path, file.ctime_ns, file.size}] = stored;
    last_stored_[file.path] = stored;
  }
  for (const DebugFile& file : manifest.debug_files)
    debug_files_[file.build_id] = stored_path(folder, file.stored_name);
}

RecordedFiles RecordedFiles::of_source(const std::string& recording) {
  try {
    if (fs::is_regular_file(fs::path(recording) / "manifest"))
      return {recording, read_manifest(recording + "/manifest")};
  } catch (const Error&) {
    // It may have been replaced by something else since: then there are no copies to be had.
  } catch (const fs::filesystem_error&) {
    // Nor from where we may not look.
  }
  return {};
}

void RecordedFiles::check() const {
  for (const Copy& copy : copies_) check_copy(copy.stored, copy.path);
  for (const MappedFile& file : on_machine_) {
    const std::string difference = explain_difference(file);
    REQUIRE(difference.empty(),
            "{} is not the file that was recorded: {}. Restore that version, or record again (`reweave pack` keeps a "
            "recording's files in it)",
            file.path, difference);
  }
}

std::string RecordedFiles::local(const std::string& path) const {
  const auto found = last_stored_.find(path);
  return found == last_stored_.end() ? path : found->second;
}

std::string RecordedFiles::debug_file(const std::string& build_id) const {
  const auto found = debug_files_.find(build_id);
  return found == debug_files_.end() ? std::string() : found->second;
}

const wire::RecordHeader* RecordedFiles::located(const wire::RecordHeader* record) {
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) return record;
  const auto& map = *reinterpret_cast<const wire::MapFileRecord*>(record);
  if (map.header.bytes <= sizeof map) return record;
  const std::string path = mapped_path(map);
  const auto found = stored_.find({path, map.ctime_ns, map.file_size});
  const std::string opened = found == stored_.end() ? "" : found->second;
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

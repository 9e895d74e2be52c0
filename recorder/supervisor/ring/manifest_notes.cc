#include "recorder/supervisor/ring/manifest_notes.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "formats/base/error.h"
#include "formats/recording/file_identity.h"
#include "formats/recording/recorded_files.h"
#include "recorder/supervisor/process/proc_folder.h"
#include "recorder/system_files.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// True for files under kSystemFolders. The loader's cache and configuration files in /etc do not count, because every
// package installation changes them.
bool belongs_to_system(const std::string& path) {
  return std::ranges::any_of(kSystemFolders, [&](const char* folder) { return path.starts_with(folder); });
}

}  // namespace

ManifestNotes::ManifestNotes(Manifest& manifest) : manifest_(manifest), processes_(manifest.processes) {
  for (const MappedFile& file : manifest.files) seen_files_.insert({file.path, file.ctime_ns, file.size});
}

void ManifestNotes::write() {
  if (changed_) writer_->update_manifest(manifest_);
  changed_ = false;
}

void ManifestNotes::note(const wire::RecordHeader* record) {
  if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kMapFile))
    note_file(wire::record_cast<wire::MapFileRecord>(*record));
  if (processes_.note(record)) changed_ = true;
}

void ManifestNotes::note_file(const wire::MapFileRecord& map) {
  if ((map.flags & (kMapStandIn | kMapInlined)) != 0) return;
  const std::string path = mapped_path(map);
  if (!seen_files_.insert({path, map.ctime_ns, map.file_size}).second) return;
  const std::string source = place_of(map, path);
  if (!fs::is_regular_file(source)) return;
  MappedFile file = identify_file(source);
  file.path = path;
  const bool fresh = (map.flags & kMapFresh) != 0 || source != path;
  const bool is_nameless = path.starts_with("/proc/");  // the process mapped it through one of its descriptors
  if (fresh || is_nameless || (file.build_id.empty() && !belongs_to_system(path)))
    file.stored_name = writer_->store_file(open_regular(source), source);
  if (file.size != map.file_size || file.ctime_ns != map.ctime_ns)
    fmt::print(stderr, "reweave: {} changed as soon as it was mapped; the recording may not replay\n", path);
  manifest_.files.push_back(file);
  changed_ = true;
  if (fresh || is_nameless) write();  // the copy could not be made again later
}

// Returns the path by which this process finds the file that the target mapped as `path`. A process with other mounts
// or another root may have another file by that name.
std::string ManifestNotes::place_of(const wire::MapFileRecord& map, const std::string& path) {
  const auto is_there = [&map](const std::string& name) {
    struct stat status {};
    return ::stat(name.c_str(), &status) == 0 && status.st_dev == map.device && status.st_ino == map.inode;
  };
  if (is_there(path) || arena_ == nullptr) return path;
  const int pid = arena_->state().processes[processes_.process_of(map.header.thread)].real_pid;
  const std::string within = fmt::format("{}/root{}", proc_folder(pid), path);
  return is_there(within) ? within : path;
}

void ManifestNotes::note_end(int wait_status) {
  const bool was_ended = arena_->header().status.fatal.load() != 0;
  if (!was_ended && !manifest_.processes.empty()) manifest_.processes.front().wait_status = wait_status;
  manifest_.wait_status = wait_status;
}

}  // namespace reweave

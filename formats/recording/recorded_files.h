// Finds the files that a recorded program mapped: the copy in the recording if there is one, else the file on this
// machine, which must then be the recorded one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "formats/recording/manifest.h"

namespace reweave {

// The path after the record's fixed part; empty if a damaged record lacks it.
std::string mapped_path(const wire::MapFileRecord& record);

class RecordedFiles {
 public:
  // The files of the recording in the folder `recording`. Does not access them.
  RecordedFiles(const Folder& recording, const Manifest& manifest);
  // Likewise for the recording at the path `recording`. If it can no longer be read there are no copies, and every file
  // is looked for at its own path.
  static RecordedFiles of_source(const std::string& recording);

  // Throws BadInput unless each file is the recorded one: copies by their hash, files on this machine by build-id or
  // hash.
  void check() const;

  // Opens the file that was mapped as `path`: the recording's copy, or the file at that path. If several files had that
  // path one after the other, opens the last one. Not open if it does not exist or is not a regular file.
  Fd open(const std::string& path) const;
  // Opens the copy of separate debug information for `build_id`; not open if there is none.
  Fd open_debug_file(const std::string& build_id) const;
  // Every copy of a mapped file: the file's own path, and the copy's name in the recording's folder `files`.
  struct Copy {
    std::string path;
    std::string name;
    std::uint64_t recorded_bytes;
  };
  const std::vector<Copy>& copies() const { return copies_; }
  // Names of the copies of separate debug information, by build-id.
  const std::map<std::string, std::string>& debug_files() const { return debug_files_; }
  // The absolute path of a copy, for interfaces that take only paths.
  std::string stored_path(const std::string& name) const { return folder_ + "/" + name; }
  Fd open_stored(const std::string& name) const;

  // `record` in the form that is fed to a replay. The path of a kMapFile record is followed by a second text: the path
  // to open instead, empty if it is the same (core/syscalls/files/map_file.cc). Other records are returned as they are.
  // Valid until the next call.
  const wire::RecordHeader* located(const wire::RecordHeader* record);

 private:
  RecordedFiles() = default;
  void check_copy(const Copy& copy) const;

  std::string folder_;           // `files`, as an absolute path
  std::optional<Folder> files_;  // none if the recording has no such folder
  std::vector<MappedFile> on_machine_;
  std::vector<Copy> copies_;
  // The names of copies. Several files may have had the same path one after the other; they differ in time or size.
  std::map<std::tuple<std::string, std::int64_t, std::uint64_t>, std::string> stored_;
  std::map<std::string, std::string> last_stored_;  // by path
  std::map<std::string, std::string> debug_files_;  // by build-id
  std::vector<std::uint64_t> changed_;
};

}  // namespace reweave

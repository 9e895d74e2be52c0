// Where the files that a recorded program mapped are found now: the copy in the recording if there is one, else the
// file on this machine, which then must be the one that was recorded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "formats/manifest.h"

namespace reweave {

// The path that follows the record's fixed part, which a damaged record may lack.
std::string mapped_path(const wire::MapFileRecord& record);

class RecordedFiles {
 public:
  // The files of the recording in the folder `recording`. Looks at none of them.
  RecordedFiles(const Folder& recording, const Manifest& manifest);
  // Those of the recording that `recording` is, or was; none, so that every file is looked for at its own path, if it
  // cannot be read any more.
  static RecordedFiles of_source(const std::string& recording);

  // Throws BadInput unless each is what was recorded: copies by their hash, files on this machine by build-id or hash.
  void check() const;

  // The file that was mapped as `path`: the recording's copy, or the one of that path. A name that stood for several
  // files in turn means the last. Not open if it is not there, or no regular file.
  Fd open(const std::string& path) const;
  // The copy of separate debug information for `build_id`; not open if there is none.
  Fd open_debug_file(const std::string& build_id) const;
  // Every copy of a mapped file: the file's own path, and the copy's name in the recording's folder `files`.
  struct Copy {
    std::string path;
    std::string name;
    std::uint64_t recorded_bytes;
  };
  const std::vector<Copy>& copies() const { return copies_; }
  // Of separate debug information, by build-id: the copy's name.
  const std::map<std::string, std::string>& debug_files() const { return debug_files_; }
  // For those that can only be given a path: the absolute one of a copy.
  std::string stored_path(const std::string& name) const { return folder_ + "/" + name; }
  Fd open_stored(const std::string& name) const;

  // `record` as it is fed to a replay: behind the path of a kMapFile record there is a second text, the path to open
  // instead, empty if it is the same (core/syscalls/files/map_file.cc). Others are `record` itself. Valid until the
  // next call.
  const wire::RecordHeader* located(const wire::RecordHeader* record);

 private:
  RecordedFiles() = default;
  void check_copy(const Copy& copy) const;

  std::string folder_;           // `files`, as an absolute path
  std::optional<Folder> files_;  // none if the recording has no such folder
  std::vector<MappedFile> on_machine_;
  std::vector<Copy> copies_;
  // The names of copies. A path may have stood for several files in turn; they differ in their times or sizes.
  std::map<std::tuple<std::string, std::int64_t, std::uint64_t>, std::string> stored_;
  std::map<std::string, std::string> last_stored_;  // by path
  std::map<std::string, std::string> debug_files_;  // by build-id
  std::vector<std::uint64_t> changed_;
};

}  // namespace reweave

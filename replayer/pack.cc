#include "replayer/pack.h"

#include <sys/stat.h>

#include <set>
#include <tuple>

#include "formats/base/error.h"
#include "formats/elf/debug_search.h"
#include "formats/elf/elf_file.h"
#include "formats/recording/file_identity.h"
#include "formats/recording/recorded_files.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

namespace {

class RecordingPacker {
 public:
  explicit RecordingPacker(const std::string& path)
      : reader_(path), manifest_(reader_.manifest()), folder_(reader_.folder().open_folder("files")) {}

  PackResult run(bool debug_info) {
    add_unlisted();
    for (MappedFile& file : manifest_.files) keep(file);
    if (debug_info)
      for (const MappedFile& file : manifest_.files) keep_debug_info(file);
    write_manifest(reader_.folder(), manifest_);
    return result();
  }

 private:
  // If the recorder was killed, the manifest lacks the files mapped last.
  void add_unlisted() {
    std::set<std::tuple<std::string, std::int64_t, std::uint64_t>> listed;
    for (const MappedFile& file : manifest_.files) listed.insert({file.path, file.ctime_ns, file.size});
    while (const wire::RecordHeader* record = reader_.next()) {
      if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) continue;
      const auto& map = wire::record_cast<wire::MapFileRecord>(*record);
      const std::string path = mapped_path(map);
      if ((map.flags & (kMapStandIn | kMapInlined)) != 0) continue;
      if (!listed.insert({path, map.ctime_ns, map.file_size}).second) continue;
      MappedFile file = identify_file(path);
      REQUIRE(file.ctime_ns == map.ctime_ns && file.size == map.file_size, "{} is not the file that was recorded",
              path);
      manifest_.files.push_back(file);
    }
  }

  void keep(MappedFile& file) {
    if (!file.stored_name.empty()) return;
    // A packed recording may be passed on, so a file whose identity is unknown is not copied into it.
    REQUIRE(!file.build_id.empty() || !file.content_hash.empty(),
            "{} cannot be packed: the recording does not describe the original file", file.path);
    const std::string difference = explain_difference(file);
    REQUIRE(difference.empty(), "{} cannot be packed, because it is not the file that was recorded: {}", file.path,
            difference);
    file.stored_name = store_content(open_regular(file.path), file.path, folder_);
    added_++;
  }

  // The search uses the file's original path, because .gnu_debuglink is looked up beside it.
  void keep_debug_info(const MappedFile& file) {
    if (file.build_id.empty()) return;
    Fd here = try_open_regular(file.path);
    if (build_id_of(here) != file.build_id) here = folder_.open_file(file.stored_name);
    for (const FoundDebugFile& found : find_debug_files(std::move(here), file.path)) {
      if (has_debug_info(found.build_id)) continue;
      manifest_.debug_files.push_back({found.build_id, store_content(open_regular(found.path), found.path, folder_)});
    }
  }

  bool has_debug_info(const std::string& build_id) const {
    for (const DebugFile& file : manifest_.debug_files)
      if (file.build_id == build_id) return true;
    return false;
  }

  PackResult result() const {
    PackResult result = {manifest_.files.size(), added_, manifest_.debug_files.size(), 0};
    std::set<std::string> names;
    for (const MappedFile& file : manifest_.files) names.insert(file.stored_name);
    for (const DebugFile& file : manifest_.debug_files) names.insert(file.stored_name);
    for (const std::string& name : names) {
      struct stat status {};
      SYSCALL_CHECK(::fstat(folder_.open_file(name).get(), &status), "{}", folder_.path_of(name));
      result.bytes += static_cast<std::uint64_t>(status.st_size);
    }
    return result;
  }

  RecordingReader reader_;
  Manifest manifest_;
  Folder folder_;  // `files`
  std::uint64_t added_ = 0;
};

}  // namespace

PackResult pack_recording(const std::string& path, bool debug_info) { return RecordingPacker(path).run(debug_info); }

}  // namespace reweave

// Notes for the manifest of a recording in progress: the processes, and the files that they mapped.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "formats/recording/manifest.h"
#include "formats/recording/process_notes.h"
#include "formats/recording/recording_writer.h"
#include "formats/wire.h"
#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

// Thread rule: the supervisor's thread.
class ManifestNotes {
 public:
  // Notes go into `manifest`, copies of files into `writer`'s recording.
  ManifestNotes(Manifest& manifest, RecordingWriter& writer, ArenaMemory& arena)
      : manifest_(manifest), writer_(&writer), arena_(&arena), processes_(manifest.processes) {}

  // For a recording whose recorder was killed: `manifest` already has the notes about part of it.
  explicit ManifestNotes(Manifest& manifest);
  void set_writer(RecordingWriter& writer) { writer_ = &writer; }

  // Notes the contents of a record. Throws SystemError if a file cannot be read or copied.
  void note(const wire::RecordHeader* record);
  // Only notes the process of a new thread, from a record that was noted already.
  void learn(const wire::RecordHeader* record) { processes_.learn(record); }
  // Writes the notes to the manifest on disk.
  void write();
  // True once the record of the thread's start was seen.
  bool knows(std::uint16_t thread) const { return processes_.knows(thread); }
  // Call this when all processes have ended. `wait_status` (wait(2)) is the first one's.
  void note_end(int wait_status);

 private:
  void note_file(const wire::MapFileRecord& map);
  std::string place_of(const wire::MapFileRecord& map, const std::string& path);

  Manifest& manifest_;
  RecordingWriter* writer_ = nullptr;
  ArenaMemory* arena_ = nullptr;
  bool changed_ = false;  // since write()
  std::set<std::tuple<std::string, std::int64_t, std::uint64_t>> seen_files_;
  ProcessNotes processes_;
};

}  // namespace reweave

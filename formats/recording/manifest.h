// Metadata of a recording, as plain structs. On disk: recording.capnp Manifest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/base/folder.h"
#include "formats/wire.h"

namespace reweave {

// ProcessInfo::wait_status of a process that had not ended when the run ended, for example because of a deadlock.
inline constexpr std::int32_t kStillRuns = -1;

struct ProcessInfo {
  std::uint32_t index = 0;
  std::uint32_t parent = 0;  // index of the parent; equal to `index` for the first
  std::int32_t pid = 0;      // while recording
  std::string program;
  std::int32_t wait_status = 0;  // as wait(2) encodes it, or kStillRuns

  bool operator==(const ProcessInfo&) const = default;
};

inline constexpr std::size_t kMaxBuildIdDigits = 128;

// Identity of a file that the target mapped: enough to tell, before a replay, that a file has changed.
struct MappedFile {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string build_id;      // ELF build-id in hex, or empty
  std::string content_hash;  // xxh3-64 of the content in hex; may be empty if there is a build-id
  std::string stored_name;   // name in the recording's files/, or empty if not stored

  bool operator==(const MappedFile&) const = default;
};

// Separate debug information that a recording holds.
struct DebugFile {
  std::string build_id;     // in hex: that of the ELF file it belongs to, or its own for a supplementary file
  std::string stored_name;  // name in the recording's files/

  bool operator==(const DebugFile&) const = default;
};

struct Manifest {
  std::string tool_version;
  bool complete = false;
  std::vector<std::string> command_line;
  std::vector<std::string> environment;
  std::string working_directory;
  std::int64_t start_time_ns = 0;
  std::string host_kernel;
  std::string cpu_model;
  std::uint64_t seed = 0;
  bool chaos = false;
  std::string policy;
  bool checksums = false;
  std::int32_t wait_status = 0;
  wire::OutcomeKind outcome = wire::OutcomeKind::kTruncated;
  std::int32_t outcome_detail = 0;
  std::string outcome_text;
  std::vector<ProcessInfo> processes;
  std::vector<MappedFile> files;
  std::uint64_t events_total = 0;      // set by RecordingWriter::finish
  bool heap_checks = false;            // from main on, freed memory was watched
  std::uint64_t heap_checks_from = 0;  // where that began, if not in main (recorder/beginning.h)
  std::string parent;                  // the recording that this one was derived from, or empty
  std::vector<DebugFile> debug_files;

  bool operator==(const Manifest&) const = default;
};

// Read and (atomically) write the manifest of the recording in that folder. read_manifest throws BadFile.
Manifest read_manifest(const Folder& recording);
void write_manifest(const Folder& recording, const Manifest& manifest);

const char* name_of(wire::OutcomeKind outcome);

}  // namespace reweave

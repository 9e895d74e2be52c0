// Writes a trace: one file, `*.rwt`, of chunks of events in program order (docs/recording-format.md).
//
// Chunks reach the OS as they fill: a writer that is killed leaves a trace that can be read up to the last whole
// chunk. One thread.
#pragma once

#include <string>
#include <vector>

#include "formats/base/block_file.h"
#include "formats/recording/recorded_files.h"
#include "formats/trace/trace_names.h"

namespace reweave {

// The origin of a trace.
struct TraceHeader {
  std::string tool_version;
  std::vector<std::string> command_line;
  std::string source;  // path of the traced recording, which has the copies of files; or empty

  bool operator==(const TraceHeader&) const = default;
};

// The place of a chunk in its file.
struct ChunkPlace {
  std::uint64_t offset = 0;
  std::uint64_t first_event = 0;
  std::uint32_t count = 0;
};

class TraceWriter {
 public:
  // Creates the file, which must not exist.
  TraceWriter(const std::string& path, const TraceHeader& header, int zstd_level = 1);

  // Appends one packed event (wire.h).
  void append(const std::uint64_t* packed) {
    encoder_.add(packed);
    if (encoder_.count() == kChunkEvents) [[unlikely]]
      write_chunk();
  }
  // Notes a wire record of the same stream: modules, mapped code, spawned threads, execs. Ignores others.
  void append_record(const wire::RecordHeader* record);
  // The number by which a kStack event names this stack: return addresses in the thread's code, innermost first.
  std::uint32_t stack_of(ThreadId thread, const std::vector<std::uint64_t>& callers) {
    return names_.stack_of(thread, callers);
  }
  // Hands everything appended to the OS.
  void flush();
  void finish();

  std::uint64_t events() const { return events_in_chunks_ + encoder_.count(); }
  std::uint64_t bytes_written() const { return file_.bytes_written(); }

  // Large enough to compress well, small enough to be decoded in a cache-friendly piece.
  static constexpr std::uint32_t kChunkEvents = 256 * 1024;

 private:
  void add_module(const wire::ModuleRecord& module, std::string path);
  void add_mapping(const wire::MapFileRecord& mapping, std::string path);
  void write_chunk();
  void write_footer();

  BlockWriter file_;
  TraceNamesWriter names_;
  TraceEncoder encoder_;
  RecordedFiles files_;
  std::vector<ChunkPlace> chunks_;
  std::vector<std::uint64_t> names_offsets_;
  std::uint64_t events_in_chunks_ = 0;
};

}  // namespace reweave

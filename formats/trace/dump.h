// Recordings and traces as text, one line per record, starting with its index. For people, and for diffs of two runs.
//
//   4 t0 call read(0x3, 0x7f0000001000, 0x40) = 64 step 9 [64 bytes at 0x7f0000001000]
//   5 t0 switch to t1, blocked, step 10
//
// At damage, throws BadFile after showing everything before it, also for a truncated file. Throws BadInput if the
// thread or the event does not exist. Text from a file is escaped, because it may be hostile and go to a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "formats/recording/recording_reader.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

struct DumpOptions {
  // Name of a system call by its number. If empty, calls are shown as "call 17".
  std::function<std::string(unsigned)> call_name;
  // The records shown are those from `first` up to, but not including, `end`.
  std::uint64_t first = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  // Show only this thread, if not negative.
  int thread = -1;
  // Bytes shown of each output.
  std::size_t payload_bytes = 0;
};

// Selects events of a sequence by the options, and counts the events seen.
class DumpChoice {
 public:
  explicit DumpChoice(const DumpOptions& options) : options_(options) {}

  // Counts the next event, of that thread. True if it is shown.
  bool take(std::uint64_t index, int thread) {
    total_ = index + 1;
    const bool of_thread = options_.thread < 0 || thread == options_.thread;
    thread_seen_ |= of_thread;
    return of_thread && index >= options_.first && index < options_.end;
  }
  // True if no later event will be shown, or is needed to validate the options.
  bool is_done() const { return total_ >= options_.end && thread_seen_; }
  // Throws BadInput if the options select nothing that the file `path` could have.
  void check(const std::string& path) const;

 private:
  const DumpOptions& options_;
  std::uint64_t total_ = 0;
  bool thread_seen_ = false;
};

void dump_recording(RecordingReader& reader, std::FILE* out, const DumpOptions& options);
void dump_trace(TraceReader& reader, std::FILE* out, const DumpOptions& options);

// One record, without index and newline. Any contents are accepted if header.bytes is right.
std::string describe_record(const wire::RecordHeader* record, const DumpOptions& options);

// Name of an event kind as dumps show it.
const char* name_of(EventKind kind);

// `text` with everything but printable ASCII escaped.
std::string escaped(std::string_view text);

}  // namespace reweave

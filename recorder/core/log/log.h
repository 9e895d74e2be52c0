// The stream of records: written when recording, read back when replaying.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// A record under construction in the out ring. `commit` publishes it; a reader never sees part of one.
class RecordWriter {
 public:
  // `body_bytes` is the size of the record's struct, header included; more may be appended up to `extra_bytes`.
  RecordWriter(wire::RecordKind kind, ThreadId thread, std::uint64_t body_bytes, std::uint64_t extra_bytes);
  template <typename Record>
  Record& body() {
    return *reinterpret_cast<Record*>(start_);
  }
  void append(const void* data, std::uint64_t bytes);  // padded to 8
  // Appends `bytes` and returns where the caller is to write them.
  std::byte* append_space(std::uint64_t bytes);
  void append_path(const char* path) { append(path, string_length(path) + 1); }
  void commit();

 private:
  std::byte* start_;
  std::uint64_t bytes_;
  std::uint64_t limit_;
};

// The largest possible record; callers split larger outputs.
inline constexpr std::uint64_t kMaxRecordBytes = kOutRingBytes / 4;

// Makes room for `bytes` in the out ring and returns where to write them; waits for the supervisor if it is full.
std::byte* reserve_out(std::uint64_t bytes);
// Publishes `bytes` written at reserve_out.
void publish_out(std::uint64_t bytes);
// Wakes the supervisor to drain the ring.
void flush_out();
// Waits until the supervisor has taken everything published.
void wait_until_drained();

// Waits until the supervisor has decoded the next record. False at the end of the recording.
bool await_record();
// The next record of the recording, waiting for the supervisor to decode it. Null at the end of the recording.
inline const wire::RecordHeader* peek_record() {
  const Channel& feed = arena().feed;
  const std::uint64_t tail = feed.tail.load(std::memory_order_relaxed);
  if (state().feed_known == tail && !await_record()) return nullptr;
  return reinterpret_cast<const wire::RecordHeader*>(kFeedBase + (tail & (feed.bytes - 1)));
}
// The record after `record`. Explored runs only: their feed holds the whole recording.
inline const wire::RecordHeader* record_after(const wire::RecordHeader& record) {
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(&record) - kFeedBase + record.bytes;
  return reinterpret_cast<const wire::RecordHeader*>(kFeedBase + (offset & (arena().feed.bytes - 1)));
}
// Replay: carries out the deaths from outside that the recording has at this point.
void repeat_outside_deaths_here();
inline void repeat_outside_deaths() {
  const wire::RecordHeader* record = peek_record();
  if (record != nullptr && record->thread == wire::kOutsideThread) repeat_outside_deaths_here();
}
// A function to call before the process stops for a debugger; null if there is nothing to do.
extern void (*before_debugger)();
// Steps over the record that peek_record returned; stops there if the user asked to stop at that event.
void consume_record();

// The next record, which must be of `kind` and belong to `thread`; otherwise the run has diverged.
const wire::RecordHeader* expect_record(wire::RecordKind kind, ThreadId thread, const char* doing);
template <typename Record>
const Record& expect(wire::RecordKind kind, const char* doing) {
  return *reinterpret_cast<const Record*>(expect_record(kind, self().id, doing));
}

// Stops the replay: `doing` says what the thread did where the recording has `record` (null: its end).
[[noreturn]] void diverged(const char* doing, const wire::RecordHeader* record);

// The recording ends here: ends this process as the recorded one ended, or reports that the recording is truncated.
[[noreturn]] void end_of_recording();

}  // namespace reweave::core

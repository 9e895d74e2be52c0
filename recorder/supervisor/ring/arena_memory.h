// The supervisor's side of the arena (recorder/arena.h): creates the memory, and reads or writes its rings.
#pragma once

#include <cstdint>

#include "recorder/runtime_state.h"
#include "recorder/stack_cache.h"

namespace reweave {

// Owns one arena: its file and mappings. A target inherits the file's descriptor.
class ArenaMemory {
 public:
  // `feed_bytes`: capacity of the feed, a power of two. `ring_file`: a recording's file for the out ring (unsaved.h),
  // which the caller keeps open; -1: the ring is memory. Throws SystemError.
  explicit ArenaMemory(std::uint64_t feed_bytes, int ring_file = -1);
  ~ArenaMemory();
  ArenaMemory(const ArenaMemory&) = delete;
  ArenaMemory& operator=(const ArenaMemory&) = delete;

  int fd() const { return fd_; }
  ArenaHeader& header() { return *reinterpret_cast<ArenaHeader*>(base_); }
  std::byte* goal() { return base_ + kGoalOffset; }
  StackCache& stack_cache() { return *reinterpret_cast<StackCache*>(base_ + kStackCacheOffset); }
  std::byte* quiet() { return base_ + kQuietOffset; }
  const std::byte* notes() const { return base_ + kNotesOffset; }
  RuntimeState& state() { return *reinterpret_cast<RuntimeState*>(base_ + kHeaderBytes); }
  const RuntimeState& state() const { return *reinterpret_cast<const RuntimeState*>(base_ + kHeaderBytes); }

  // Records that the target has published and that were not taken yet: [data, data + bytes), whole records.
  struct Span {
    const std::byte* data;
    std::uint64_t bytes;
  };
  Span published();
  // Takes the first `bytes` of the published records. In a ring with a file they stay there until they are saved.
  void take(std::uint64_t bytes);
  // For a ring with a file: notes that everything taken up to `mark` is saved elsewhere.
  void note_saved(const SavedMark& mark);
  // Bytes taken so far.
  std::uint64_t taken() { return header().out.tail.load(std::memory_order_relaxed); }
  int ring_file() const { return ring_file_; }
  // Appends a record on behalf of the target; the caller must have its baton. There must be room.
  void publish(const void* record, std::uint64_t bytes);
  // True if the target waits for the answer to a StackRequest.
  bool stack_asked();
  // True if the target waits for the answer to a KeepRequest.
  bool keep_asked() { return header().keep.asked.load() != 0; }
  void answer_keep(std::uint16_t file);
  // Lets the first process begin. Call this when the guard has started.
  void let_begin();
  // Sleeps until the target flushes or fills its ring or requests something, at most `milliseconds`.
  void wait_for_records(int milliseconds);
  // From now on `signal` interrupts sleeps, which otherwise last their full time.
  static void wake_at(int signal);
  // The number of flushes and requests of the target so far.
  std::uint32_t signals_seen() { return header().out.head_signal.load(); }
  // Sleeps until that number exceeds `seen`, at most `milliseconds`.
  void let_gather(std::uint32_t seen, int milliseconds);

  // Appends a record to the feed if it fits now.
  bool offer(const void* record, std::uint64_t bytes);
  // Lets the target see the records offered. Not called for each record, because the cache line would move back and
  // forth between processors.
  void show_offered();
  void close_feed();
  // Sleeps until the target has consumed a good part of the feed, at most `milliseconds`.
  void wait_for_feed_room(int milliseconds);

 private:
  std::byte* map_mirrored(const Channel& channel, int fd) const;
  // Allocates the feed's pages up to `end`, many at once.
  void prepare_feed(std::uint64_t end);

  int fd_;
  int ring_file_;
  std::byte* base_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* feed_ = nullptr;
  std::uint64_t offered_ = 0;
  std::uint64_t feed_tail_ = 0;      // feed.tail when last read
  std::uint64_t feed_bytes_;         // as mapped here; the target could change the size in the header
  std::uint64_t feed_prepared_ = 0;  // bytes of the feed whose pages are allocated
};

}  // namespace reweave

// The supervisor's side of the arena (recorder/arena.h): creates the memory and reads or writes its rings.
#pragma once

#include <cstdint>

#include "recorder/runtime_state.h"
#include "recorder/stack_cache.h"

namespace reweave {

// Owns one arena: its file and mappings. The file's descriptor is what a target inherits.
class ArenaMemory {
 public:
  // `feed_bytes`: capacity of the feed, a power of two. Throws SystemError.
  // `ring_file`: a recording's file for the out ring (unsaved.h), which the caller keeps open; -1: it is memory.
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

  // Records that the target has published and nobody has taken: [data, data + bytes), whole records.
  struct Span {
    const std::byte* data;
    std::uint64_t bytes;
  };
  Span published();
  // Takes the first `bytes` of them away. Those of a ring with a file stay there until they are saved.
  void take(std::uint64_t bytes);
  // Of a ring with a file: what was taken up to `mark` is saved elsewhere.
  void note_saved(const SavedMark& mark);
  // Bytes taken so far.
  std::uint64_t taken() { return header().out.tail.load(std::memory_order_relaxed); }
  int ring_file() const { return ring_file_; }
  // Appends a record on behalf of the target, whose baton the caller must have. There must be room.
  void publish(const void* record, std::uint64_t bytes);
  // The target waits for the answer to a StackRequest.
  bool stack_asked();
  // The target waits for the answer to a KeepRequest.
  bool keep_asked() { return header().keep.asked.load() != 0; }
  void answer_keep(std::uint16_t file);
  // The guard is there: the first process may begin.
  void let_begin();
  // Sleeps until the target flushes or fills its ring or asks for something, `milliseconds` at the most.
  void wait_for_records(int milliseconds);
  // From now on the signal interrupts sleeps, which would go on to their end otherwise.
  static void wake_at(int signal);
  // How often the target has flushed or asked so far.
  std::uint32_t signals_seen() { return header().out.head_signal.load(); }
  // Sleeps until the target has done it more often than `seen` says, `milliseconds` at the most.
  void let_gather(std::uint32_t seen, int milliseconds);

  // Appends a record to the feed if it fits now.
  bool offer(const void* record, std::uint64_t bytes);
  // Lets the target see what was offered: not each record, for the processors would pass that line back and forth.
  void show_offered();
  void close_feed();
  // Sleeps until the target has consumed a good part of the feed, `milliseconds` at the most.
  void wait_for_feed_room(int milliseconds);

 private:
  std::byte* map_mirrored(const Channel& channel, int fd) const;
  // Makes the feed's pages up to what is offered next, many at once.
  void prepare_feed(std::uint64_t end);

  int fd_;
  int ring_file_;
  std::byte* base_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* feed_ = nullptr;
  std::uint64_t offered_ = 0;
  std::uint64_t feed_tail_ = 0;      // what the target had taken when last looked at
  std::uint64_t feed_bytes_;         // as mapped here; the header's is the target's to change
  std::uint64_t feed_prepared_ = 0;  // bytes of the feed whose pages are there
};

}  // namespace reweave

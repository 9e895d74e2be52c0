// Takes the target's records out of its ring and writes them into a recording.
#pragma once

#include <cstdint>

#include "formats/recording/recording_writer.h"
#include "recorder/supervisor/process/end_requests.h"
#include "recorder/supervisor/ring/arena_memory.h"
#include "recorder/supervisor/ring/kept_files.h"
#include "recorder/supervisor/ring/manifest_notes.h"

namespace reweave {

// Thread rule: the supervisor's thread.
class RingDrain {
 public:
  // Once the recording exceeds `max_bytes`, records are noted but no longer written; 0: no limit.
  RingDrain(ArenaMemory& arena, RecordingWriter& writer, KeptFiles& kept, ManifestNotes& notes, std::uint64_t max_bytes)
      : arena_(arena), writer_(writer), kept_(kept), notes_(notes), max_bytes_(max_bytes) {}

  // Takes part of what the target has published. False if there was nothing.
  bool take_some();
  // Takes what was published before the call, and possibly later records.
  void take_published();
  // Takes everything, until the target publishes no more.
  void take_all();

  // Writes everything taken to the recording on disk.
  void flush();

  // True if the last call of take_some() took everything published by then.
  bool caught_up() const { return caught_up_; }
  bool too_large() const { return max_bytes_ != 0 && writer_.bytes_written() > max_bytes_; }
  // The number of signals from outside, by signal number.
  const TakenSignals& signals() const { return signals_; }
  // True if records were left out because the recording was too large.
  bool dropped() const { return dropped_; }

 private:
  void prepare_for_much();
  unsigned percent_full(const ArenaMemory::Span& span) const;
  std::uint64_t take_from(const ArenaMemory::Span& span);
  bool append(const wire::RecordHeader* record);
  void note_saved(std::uint64_t position, const wire::RecordHeader* last);
  void save_mark();
  void drop();
  void count_signal(const wire::SignalRecord& signal);

  ArenaMemory& arena_;
  RecordingWriter& writer_;
  KeptFiles& kept_;
  ManifestNotes& notes_;
  std::uint64_t max_bytes_;
  std::uint64_t skipped_ = 0;  // padding among the bytes taken from the ring
  SavedMark saved_ = {};       // the part of the ring that is in blocks
  SavedMark told_ = {};        // the same when save_mark() last noted it in the ring's file
  TakenSignals signals_ = {};
  bool caught_up_ = false;
  bool dropped_ = false;
  bool writes_much_ = false;  // true of the target
};

}  // namespace reweave

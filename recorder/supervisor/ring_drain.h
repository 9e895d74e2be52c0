// Takes the target's records out of its ring and writes them into a recording.
#pragma once

#include <cstdint>

#include "formats/recording_writer.h"
#include "recorder/supervisor/arena_memory.h"
#include "recorder/supervisor/end_requests.h"
#include "recorder/supervisor/kept_files.h"
#include "recorder/supervisor/manifest_notes.h"

namespace reweave {

// One thread: the supervisor's.
class RingDrain {
 public:
  // Once the recording has more than `max_bytes`, records are noted but no longer written; 0: no limit.
  RingDrain(ArenaMemory& arena, RecordingWriter& writer, KeptFiles& kept, ManifestNotes& notes, std::uint64_t max_bytes)
      : arena_(arena), writer_(writer), kept_(kept), notes_(notes), max_bytes_(max_bytes) {}

  // Takes a portion of what the target has published. False if there was nothing.
  bool take_some();
  // Takes what was published before the call, and perhaps what comes meanwhile.
  void take_published();
  // Takes all there is, until the target publishes no more.
  void take_all();

  // Has the recording on disk have all that was taken.
  void flush();

  // What was published at the last portion is taken.
  bool caught_up() const { return caught_up_; }
  bool too_large() const { return max_bytes_ != 0 && writer_.bytes_written() > max_bytes_; }
  // The signals from outside that were taken, by number.
  const TakenSignals& signals() const { return signals_; }
  // Records were left out, because the recording was too large.
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
  std::uint64_t skipped_ = 0;  // of what was taken from the ring
  SavedMark saved_ = {};       // of what is in blocks
  SavedMark told_ = {};        // likewise, as the ring's file has it
  TakenSignals signals_ = {};
  bool caught_up_ = false;
  bool dropped_ = false;
  bool writes_much_ = false;  // the target
};

}  // namespace reweave

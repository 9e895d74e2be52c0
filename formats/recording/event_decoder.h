// Reconstructs the wire records of one event block, byte for byte, one at a time.
#pragma once

#include <vector>

#include "formats/base/column.h"
#include "formats/recording.capnp.h"
#include "formats/recording/event_columns.h"
#include "formats/recording/event_model.h"
#include "formats/recording/stored_apart.h"
#include "formats/wire.h"

namespace reweave {

class EventDecoder {
 public:
  // `apart` reads the outputs that are stored outside the blocks; null: there are none. It must outlive the decoder.
  explicit EventDecoder(ApartReader* apart = nullptr) : apart_(apart) {}

  // Starts on `block`, which must outlive the decoding of its records. Throws Malformed.
  void start(schema::EventBlock::Reader block);
  // The next record, valid until the next call; nullptr after the block's last. Throws Malformed.
  const wire::RecordHeader* next();

 private:
  void decode_switch();
  void decode_syscall();
  std::uint32_t decode_place();  // returns the place's number
  void decode_outputs(const wire::SyscallRecord& call, CallState& state);
  // Appends `bytes` of output, zero-padded to the next word.
  void decode_data(const wire::SyscallRecord& call, std::uint64_t bytes);
  void decode_clock();
  void decode_raw();
  void expect_end();
  template <typename Record>
  Record& record() {
    return *reinterpret_cast<Record*>(words_.data());
  }
  // Makes room for `bytes` more of the record; returns where they start. The pointer of record() may change.
  std::uint8_t* extend(std::uint64_t bytes);

  ApartReader* apart_;
  EventModel model_;
  std::vector<std::uint32_t> places_;  // by number
  std::vector<std::uint64_t> words_;   // the record being decoded
  std::size_t bytes_ = 0;              // of that record, so far
  std::uint32_t left_ = 0;             // records still to come
  std::uint64_t raw_bytes_left_ = 0;

  EventColumns<ColumnReader> columns_;
};

}  // namespace reweave

// Turns wire records into the columns of one event block (recording.capnp EventBlock).
#pragma once

#include <unordered_map>

#include "formats/base/column.h"
#include "formats/recording.capnp.h"
#include "formats/recording/event_columns.h"
#include "formats/recording/event_model.h"
#include "formats/wire.h"

namespace reweave {

class EventEncoder {
 public:
  // Adds a record; its bytes are copied. REQUIREs a kind and a size that a recording can hold. An output stored apart
  // (wire::kOutputApart) must have been stored already.
  void add(const wire::RecordHeader* record);

  std::uint32_t count() const { return count_; }
  // Size of the records when decoded.
  std::uint64_t raw_bytes() const { return raw_bytes_; }
  // Approximate size of the block's columns.
  std::size_t column_bytes() const;

  // Writes the columns, except firstRecord, and starts the next block.
  void emit(schema::EventBlock::Builder block);

 private:
  struct Output {
    std::uint64_t address;
    std::uint64_t bytes;
    const std::uint8_t* data;
  };

  bool parse_outputs(const wire::SyscallRecord& call);
  bool parse_apart(const wire::SyscallRecord& call);
  void add_switch(const wire::SwitchRecord& record);
  void add_syscall(const wire::SyscallRecord& call);
  void add_clock(const wire::ClockRecord& record);
  std::uint32_t add_place(ThreadId thread, std::uint32_t place);
  void add_outputs(const wire::SyscallRecord& call, CallState& state);
  void add_raw(const wire::RecordHeader* record);
  void reset();

  EventModel model_;
  std::vector<std::uint32_t> places_ = {0};  // by number
  std::unordered_map<std::uint32_t, std::uint32_t> place_numbers_;
  std::vector<Output> outputs_;  // of the call being added
  std::uint32_t count_ = 0;
  std::uint64_t raw_bytes_ = 0;

  EventColumns<ColumnWriter> columns_;
};

}  // namespace reweave

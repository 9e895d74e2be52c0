// Records of what the core logs in the manner of a system call (wire::kImageStart and the others): arguments, and at
// most one chunk of memory or of a file.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"

namespace reweave::core {

class PseudoCall : public RecordWriter {
 public:
  // Its chunk may have `bytes` bytes; with 0 there is none.
  explicit PseudoCall(std::uint32_t number, std::uint64_t bytes = 0);

  wire::SyscallRecord& fields() { return body<wire::SyscallRecord>(); }

  void append_chunk(std::uint64_t address, const void* data, std::uint64_t bytes);
  // The same with what is at `base + address` of the file `fd`; what cannot be read is left out.
  void append_file(std::uint64_t address, long fd, std::uint64_t bytes, std::uint64_t base = 0);
};

// Whether `record` is one of that number.
bool is_pseudo_call(const wire::RecordHeader& record, std::uint32_t number);

// The chunk, whose data lies behind it; null: there is none, or the record is damaged.
const wire::OutputChunk* sole_chunk(const wire::RecordHeader& record);

}  // namespace reweave::core

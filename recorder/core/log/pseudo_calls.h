// Records that the core logs in the form of a system call (wire::kImageStart and others): arguments, and at most one
// chunk with contents of memory or of a file.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"

namespace reweave::core {

class PseudoCall : public RecordWriter {
 public:
  // `bytes` is the largest size of the chunk; with 0 there is no chunk.
  explicit PseudoCall(std::uint32_t number, std::uint64_t bytes = 0);

  wire::SyscallRecord& fields() { return body<wire::SyscallRecord>(); }

  void append_chunk(std::uint64_t address, const void* data, std::uint64_t bytes);
  // Likewise, with the contents of the file `fd` at `base + address`; a part that cannot be read is left out.
  void append_file(std::uint64_t address, long fd, std::uint64_t bytes, std::uint64_t base = 0);
};

// Whether `record` is a pseudo call of that number.
bool is_pseudo_call(const wire::RecordHeader& record, std::uint32_t number);

// The chunk, which its data follows; null if there is none or the record is damaged.
const wire::OutputChunk* sole_chunk(const wire::RecordHeader& record);

}  // namespace reweave::core

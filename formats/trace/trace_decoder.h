// Decodes chunks of a trace, whole or in pieces, into columns of plain values. No state outlives a chunk.
#pragma once

#include <span>
#include <vector>

#include "formats/base/column.h"
#include "formats/trace.capnp.h"
#include "formats/trace/trace_model.h"
#include "formats/trace/value_coding.h"
#include "formats/wire.h"

namespace reweave {

// Events first_event, first_event + 1, ... in program order, as a structure of arrays.
struct TraceChunk {
  std::uint64_t first_event = 0;
  std::vector<ThreadId> thread;
  std::vector<EventKind> kind;
  std::vector<std::uint8_t> aux;
  std::vector<std::uint32_t> site;  // index in the trace's site table
  std::vector<std::uint64_t> address;
  std::vector<std::uint64_t> extra;
  std::vector<std::uint64_t> value;
  std::vector<std::uint8_t> has_value;  // 1: `value` is known

  std::size_t size() const { return thread.size(); }
  void resize(std::size_t count);
  // Event `i` as one value; `pc` is that of its site.
  TraceEvent event(std::size_t i, std::uint64_t pc) const {
    return {address[i], pc, extra[i], thread[i], kind[i], aux[i], has_value[i] != 0, value[i]};
  }
};

class TraceDecoder {
 public:
  // Begins with a chunk, which must outlive the decoding of its events. `site_count` bounds the valid site ids. Throws
  // Malformed.
  void open(schema::TraceChunk::Reader from, std::uint32_t site_count);
  // Decodes the next events, at most `limit` (above 0); false if there are none. Throws Malformed.
  bool next(std::size_t limit, TraceChunk& to);

 private:
  // A TraceOp with its form unpacked.
  struct Op : TraceOp {
    EventKind kind = EventKind::kRead;
    std::uint8_t aux = 0;
    bool has_extra = false;
    bool has_value = false;
  };

  std::uint32_t find_op(std::uint8_t code, ThreadId thread, std::uint32_t before);
  std::uint32_t new_op(ThreadId thread);
  std::uint64_t given_address(std::uint8_t code, const Op& op, std::uint64_t thread_address);
  void decode_events(const std::uint8_t* control, TraceChunk& to);
  void expect_end() const;

  std::vector<Op> ops_;
  TraceThreads threads_;
  ThreadId thread_ = 0;  // of the event before
  TraceThreadState current_;
  std::uint64_t next_event_ = 0;
  std::span<const std::uint8_t> control_;  // of the events to come
  std::uint32_t site_count_ = 0;
  std::uint32_t last_new_site_ = 0;
  ColumnReader op_refs_, new_ops_, thread_column_, addresses_, extras_;
  ValueReader values_;
};

}  // namespace reweave

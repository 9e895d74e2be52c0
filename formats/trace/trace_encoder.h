// Turns packed trace records into the columns of one chunk (trace.capnp TraceChunk).
#pragma once

#include <vector>

#include "formats/base/column.h"
#include "formats/trace.capnp.h"
#include "formats/trace/trace_model.h"
#include "formats/trace/value_coding.h"
#include "formats/wire.h"

namespace reweave {

// Gives sites their trace-wide ids.
class SiteNumbering {
 public:
  virtual ~SiteNumbering() = default;
  virtual std::uint32_t site_of(ThreadId thread, std::uint64_t pc) = 0;
};

class TraceEncoder {
 public:
  explicit TraceEncoder(SiteNumbering& sites) : sites_(sites) { reset(); }

  void add(const std::uint64_t* packed);
  std::uint32_t count() const { return static_cast<std::uint32_t>(control_.size()); }
  // Total bytes of the columns.
  std::size_t column_bytes() const;
  // Writes the columns, except firstEvent, and starts the next chunk.
  void emit(schema::TraceChunk::Builder chunk);
  // Call this when a pc may have come to mean other code. From then on no known op matches, so that its site is looked
  // up again.
  void forget_sites();

 private:
  // An entry of the table of ops, found by thread and key. The key is pc << 16 | form.
  struct Slot {
    std::uint64_t key;
    std::uint32_t op;
    ThreadId thread;
  };

  std::uint8_t find_op(std::uint32_t before, ThreadId thread, std::uint64_t key, std::uint32_t& op);
  std::uint32_t look_up(ThreadId thread, std::uint64_t key, bool& is_new);
  std::uint8_t add_address(TraceOp& op, std::uint64_t address, std::uint64_t thread_address);
  bool is_op(std::uint32_t op, ThreadId thread, std::uint64_t key) const {
    return op != kNoOp && keys_[op] == key && ops_[op].thread == thread;
  }
  void switch_to(ThreadId thread);
  void grow();
  void reset();

  SiteNumbering& sites_;
  std::vector<TraceOp> ops_;
  std::vector<std::uint64_t> keys_;  // of ops_; kept apart, so that comparing does not touch the op
  std::vector<Slot> slots_;          // open addressing; size a power of two
  TraceThreads threads_;
  TraceThreadState current_;  // of thread_; written back when the thread changes
  ThreadId thread_ = 0;
  std::uint32_t last_new_site_ = 0;

  ColumnWriter control_, op_refs_, new_ops_, thread_column_, addresses_, extras_;
  ValueWriter values_;
};

}  // namespace reweave

// The STD text format, in which published analysers exchange traces: one event per line, `thread|op(name)|location`.
//
//   op: r w (variable)  acq rel (lock)  fork join (thread)  begin end
//   location: a decimal number, the code location
//
// Extensions of Reweave; a reader that skips lines with unknown words understands the rest:
//
//   br                control could have taken another path   req reqs          about to lock
//   rp wz             r of a pointer followed without a null check, w of null
//   rd wd             r that decides nothing, w of a value that may depend on such a read of its thread
//   ar aw au          atomic read, write, update              acqs rels         shared lock and unlock
//   wait woken timeout (condition,mutex)                      notify notifyAll  (condition)
//   enter leave       (barrier)                               post take         (semaphore)
//   send receive      (kernel object; receive(@800000000000): from any of them)
//   alloc stack (memory: a heap block, the next thread's stack)  free (block)   call ret exit
//   process (name)    not an event: the line's thread belongs to that process; threads without it share the first one
//
// A name that starts with @ is an address of the program: `@7ffc10` for locks and the like, `@7ffc10+4` for memory and
// its size, `@7ffc10+4/5` for atomics, with size and memory order. Two such names may overlap. Each other name is a
// variable of its own.
//
// Tolerated: `begin`, `end` and the like with or without a name in parentheses, thread operands with or without the
// leading "T" of the thread column, CR at line ends, blank lines. Anything else is an error that names the line: a
// reader that guesses would analyse another program.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>

#include "formats/event.h"
#include "formats/text/std_names.h"

namespace reweave {

class StdFormatError : public std::runtime_error {
 public:
  StdFormatError(std::size_t line, const std::string& reason)
      : std::runtime_error("line " + std::to_string(line) + ": " + reason), line_(line) {}
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

using EventSink = std::function<void(const TraceEvent& event, std::uint32_t site)>;

// Reads all of `in` and feeds `sink` in order; the site of an event is its location. Throws StdFormatError, also for an
// order of events that no run can have (std_order.h) and for text without an event.
void read_std(std::istream& in, StdNames& names, const EventSink& sink);

enum class StdDialect : std::uint8_t {
  kFull,   // with the extensions: loses nothing that prediction uses
  kField,  // only common words: atomics as plain accesses, shared locks as exclusive ones, no branches
};

struct StdWriteOptions {
  StdDialect dialect = StdDialect::kFull;
  const StdNames* names = nullptr;  // names for addresses; an address without a name is written in hexadecimal
};

// Writes that `thread` belongs to `process`, if the dialect can.
void write_std_process(std::ostream& out, ThreadId thread, std::uint16_t process, const StdWriteOptions& options);

// Writes one event as a line, if the dialect has a word for it; returns false if not.
bool write_std(std::ostream& out, const TraceEvent& event, std::uint32_t site, const StdWriteOptions& options);

}  // namespace reweave

// The STD text format, which the field's analysers exchange traces in: one event a line, `thread|op(name)|location`.
//
//   op: r w (variable)  acq rel (lock)  fork join (thread)  begin end
//   location: a decimal number, the code location
//
// Ours, for what the field's words cannot say; a reader that skips lines with unknown words understands the rest:
//
//   br                control may have gone another way       req reqs          about to lock
//   rp wz             r of a pointer that is followed without a look, w of null
//   ar aw au          atomic read, write, update              acqs rels         shared lock and unlock
//   wait woken timeout (condition,mutex)                      notify notifyAll  (condition)
//   enter leave       (barrier)                               post take         (semaphore)
//   alloc stack (memory: a heap block, the next thread's stack)  free (block)   call ret exit
//
// A name is an address of the program if it starts with @: `@7ffc10` for locks and the like, `@7ffc10+4` for memory,
// with its bytes, `@7ffc10+4/5` for atomics, with their memory order. Two such names may overlap. All other names are
// variables of their own.
//
// Tolerated: `begin`, `end` and the like with or without a name in parentheses, thread operands with or without the
// leading "T" of the thread column, CR at line ends, blank lines. Anything else is an error with its line: a reader
// that guesses analyses another program.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formats/event.h"

namespace reweave {

class StdFormatError : public std::runtime_error {
 public:
  StdFormatError(std::size_t line, const std::string& reason)
      : std::runtime_error("line " + std::to_string(line) + ": " + reason), line_(line) {}
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

// The names of an STD file, and the numbers that stand for them in events.
class StdNames {
 public:
  std::uint64_t variable_address(std::string_view name);
  std::uint64_t lock_address(std::string_view name);
  ThreadId thread(std::string_view name);

  // The name behind an address of an event, or empty.
  std::string name_of(std::uint64_t address) const;
  const std::vector<std::string>& threads() const { return threads_.names(); }

 private:
  // A hash table in one array: a name is looked up for each event, and nodes all over memory would cost more than all
  // else of the reading.
  class Table {
   public:
    std::uint32_t add(std::string_view name);
    const std::vector<std::string>& names() const { return names_; }

   private:
    struct Slot {
      std::uint32_t hash = 0;
      std::uint32_t number = 0;  // plus 1; 0: free
    };
    void grow();

    std::vector<Slot> slots_;  // a power of two, at most half of them used
    std::vector<std::string> names_;
  };
  Table variables_, locks_, threads_;
};

using EventSink = std::function<void(const TraceEvent& event, std::uint32_t site)>;

// Reads all of `in` and feeds `sink` in order; the site of an event is its location. Throws StdFormatError.
void read_std(std::istream& in, StdNames& names, const EventSink& sink);

enum class StdDialect : std::uint8_t {
  kFull,   // our words, too: nothing is lost that prediction looks at
  kField,  // only what every reader knows: atomics as plain accesses, shared locks as exclusive ones, no branches
};

struct StdWriteOptions {
  StdDialect dialect = StdDialect::kFull;
  const StdNames* names = nullptr;  // names to use for addresses; without one they are written as addresses
};

// Writes one event as a line, if the dialect has a word for it; returns false if not.
bool write_std(std::ostream& out, const TraceEvent& event, std::uint32_t site, const StdWriteOptions& options);

}  // namespace reweave

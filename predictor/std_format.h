// The STD text format, which the field's analysers exchange traces in: one event a line, `thread|op(name)|location`.
//
//   op: r w (variable)  acq rel req (lock)  fork join (thread)  begin end  br (ours: control may have gone another way)
//   location: a decimal number, the code location
//
// Tolerated: `begin`/`end`/`br` with or without a name in parentheses, thread operands with or without the leading "T"
// of the thread column, CR at line ends, blank lines. Anything else is an error with its line: a reader that guesses
// analyses another program.
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

struct StdWriteOptions {
  bool branches = true;             // off for other readers, which do not know `br`
  const StdNames* names = nullptr;  // names to use for addresses; without one they are written in hexadecimal
};

// Writes one event as a line; returns false if the format has no word for it (allocations, calls, ...).
// Atomic accesses become plain ones, shared locks exclusive ones.
bool write_std(std::ostream& out, const TraceEvent& event, std::uint32_t site, const StdWriteOptions& options);

}  // namespace reweave

// The names of threads, variables and locks in STD text, and the numbers that stand for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/event.h"

namespace reweave {

// Those of one file. Numbers are given in the order of first use.
class StdNames {
 public:
  std::uint64_t variable_address(std::string_view name);
  std::uint64_t lock_address(std::string_view name);
  ThreadId thread(std::string_view name);

  void put_in_process(ThreadId thread, std::string_view process);

  // The name behind an address of an event, which may be within what has it, or empty.
  std::string name_of(std::uint64_t address) const;
  // The name that stands for just this address as a variable's or a lock's, or empty.
  std::string variable_at(std::uint64_t address) const;
  std::string lock_at(std::uint64_t address) const;
  const std::vector<std::string>& threads() const { return threads_.names(); }
  // By thread, as far as it was said; 0 is the process of those of which nothing was.
  const std::vector<std::uint16_t>& processes() const { return processes_; }

 private:
  // A hash table in one array: a name is looked up for each event, and nodes all over memory would cost more than all
  // else of the reading.
  class Table {
   public:
    std::uint32_t add(std::string_view name);
    const std::vector<std::string>& names() const { return names_; }
    // Of the one at `address`, if the first of them is at `base`; or empty.
    std::string name_at(std::uint64_t base, std::uint64_t address) const;

   private:
    struct Slot {
      std::uint32_t hash = 0;
      std::uint32_t number = 0;  // plus 1; 0: free
    };
    void grow();

    std::vector<Slot> slots_;  // a power of two, at most half of them used
    std::vector<std::string> names_;
  };
  Table variables_, locks_, threads_, process_names_;
  std::vector<std::uint16_t> processes_;
};

}  // namespace reweave

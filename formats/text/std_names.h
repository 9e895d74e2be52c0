// The names of threads, variables and locks in STD text, and the numbers that stand for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/event.h"

namespace reweave {

// The names of one file. Numbers are assigned in the order of first use.
class StdNames {
 public:
  std::uint64_t variable_address(std::string_view name);
  std::uint64_t lock_address(std::string_view name);
  ThreadId thread(std::string_view name);

  void put_in_process(ThreadId thread, std::string_view process);

  // The name of the object that contains an event's address, or empty.
  std::string name_of(std::uint64_t address) const;
  // The name of the variable or lock at exactly this address, or empty.
  std::string variable_at(std::uint64_t address) const;
  std::string lock_at(std::uint64_t address) const;
  const std::vector<std::string>& threads() const { return threads_.names(); }
  // Processes by thread. 0 is the process of threads without a `process` line; such threads may be missing at the end.
  const std::vector<std::uint16_t>& processes() const { return processes_; }

 private:
  // A hash table in one array: each event looks up a name, and scattered nodes would cost more than the rest of the
  // reading.
  class Table {
   public:
    std::uint32_t add(std::string_view name);
    const std::vector<std::string>& names() const { return names_; }
    // The name at `address`, given that the first name has the address `base`; empty if there is none.
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

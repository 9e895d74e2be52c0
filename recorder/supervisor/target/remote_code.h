// A process's memory and the code mapped into it, seen from outside without tracing it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace reweave {

// Reads another process's memory a page at a time and caches the pages.
class RemoteMemory {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}
  // False if it is unmapped or may not be read.
  bool read(std::uint64_t address, void* to, std::size_t bytes);
  void forget() { pages_.clear(); }
  // True if the system forbids reading the process.
  bool forbidden() const { return forbidden_; }

 private:
  static constexpr std::uint64_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;
  const Page* page(std::uint64_t start);

  pid_t pid_;
  bool forbidden_ = false;
  std::unordered_map<std::uint64_t, Page> pages_;
};

// The code of an ELF file in a process's memory, and its unwind table.
struct RemoteModule {
  std::uint64_t start = 0;         // of the code
  std::uint64_t end = 0;           // end of the code
  std::uint64_t table_header = 0;  // address of .eh_frame_hdr
  std::uint64_t table = 0;         // address of the table in it; 0: none, or in an unknown format
  std::uint64_t table_entries = 0;
};

// The constant part of a process's memory: code, tables and other constants. Stays valid while code is only added to
// the process.
class RemoteCode {
 public:
  explicit RemoteCode(pid_t pid) : pid_(pid), memory_(pid) {}

  // The module whose code is at `pc`, or null. Reads the process's mappings again if it is not in a known module.
  const RemoteModule* module_at(std::uint64_t pc);
  // Like RemoteMemory::read; false for memory that the process may write.
  bool read(std::uint64_t address, void* to, std::size_t bytes);

 private:
  struct Range {
    std::uint64_t start;
    std::uint64_t end;
  };
  const RemoteModule* known_module(std::uint64_t pc) const;
  void look_again();
  void find_table(RemoteModule& module, std::uint64_t header);
  void read_table_header(RemoteModule& module);

  pid_t pid_;
  RemoteMemory memory_;
  std::vector<RemoteModule> modules_;
  std::vector<Range> constant_;  // mapped from files and not writable; sorted
};

}  // namespace reweave

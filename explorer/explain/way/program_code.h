// The instrumented code of a run: its instructions, by their addresses in the process, and what they call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/elf_code.h"
#include "formats/machine_code.h"
#include "formats/recorded_files.h"
#include "formats/trace_reader.h"

namespace reweave {

class ProgramCode {
 public:
  // Files that are missing, or not proven to be the recorded ones, have no code here.
  explicit ProgramCode(const TraceReader& trace);

  // No file of the run announces its accesses.
  bool empty() const { return modules_.empty(); }
  // The instruction there, with addresses of the process; null if it is no instrumented code. Valid as long as this.
  const Instruction* at(std::uint64_t address);
  // Where the function around the address begins; 0: not known.
  std::uint64_t start_of(std::uint64_t address);
  // What the call or jump calls; empty if the name is not known. `outside`: not of instrumented code, as far as known.
  std::string callee(const Instruction& instruction, bool& outside);

 private:
  struct Module {
    std::uint64_t base, start, end;
    std::unique_ptr<ElfCode> code;
  };
  Module* module_at(std::uint64_t address);

  std::vector<Module> modules_;
  std::unordered_map<std::uint64_t, std::optional<Instruction>> instructions_;
};

}  // namespace reweave

// The instrumented code of a run: instructions by their addresses in the process, and the functions that they call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/code/machine_code.h"
#include "formats/elf/elf_code.h"
#include "formats/recording/recorded_files.h"
#include "formats/trace/trace_reader.h"

namespace reweave {

class ProgramCode {
 public:
  // Leaves out files that are missing or cannot be proven to be the recorded ones.
  explicit ProgramCode(const TraceReader& trace);

  // True if no file of the run has instrumented code.
  bool empty() const { return modules_.empty(); }
  // The instruction at an address; its own addresses are those of the process. Null if the code is not instrumented.
  // Valid as long as this object.
  const Instruction* at(std::uint64_t address);
  // The start of the function that contains the address; 0 if it is not known.
  std::uint64_t start_of(std::uint64_t address);
  // The name of the function that a call or jump calls; empty if it is not known. Sets `outside` if the target is known
  // not to be instrumented code.
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

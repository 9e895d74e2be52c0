#include "explorer/explain/way/program_code.h"

#include "formats/elf/elf_file.h"

namespace reweave {

namespace {

bool is_own_library(const std::string& path) { return path.find("/libreweave") != path.npos; }

// Converts the instruction's addresses from the file to the process.
void move_by(Instruction& instruction, std::uint64_t base) {
  instruction.address += base;
  if (instruction.target != 0) instruction.target += base;
  const MemoryPlace& memory = instruction.memory;
  const bool names_memory =
      instruction.loads || instruction.stores || instruction.shape == Instruction::Shape::kAddress;
  if (names_memory && memory.base == kNoRegister && memory.index == kNoRegister && !memory.other_segment)
    instruction.memory.displacement += static_cast<std::int64_t>(base);
}

}  // namespace

ProgramCode::ProgramCode(const TraceReader& trace) {
  const RecordedFiles files = RecordedFiles::of_source(trace.info().header.source);
  for (const ModuleInfo& module : trace.info().modules) {
    if (module.build_id.empty() || is_own_library(module.path)) continue;
    Fd file = files.open(module.path);
    if (build_id_of(file) != module.build_id) continue;
    auto code = std::make_unique<ElfCode>(std::move(file));
    if (code->instrumented()) modules_.push_back({module.base, module.start, module.end, std::move(code)});
  }
}

ProgramCode::Module* ProgramCode::module_at(std::uint64_t address) {
  for (Module& module : modules_)
    if (address >= module.start && address < module.end) return &module;
  return nullptr;
}

const Instruction* ProgramCode::at(std::uint64_t address) {
  if (const auto known = instructions_.find(address); known != instructions_.end())
    return known->second ? &*known->second : nullptr;
  std::optional<Instruction>& found = instructions_[address];
  const Module* module = module_at(address);
  if (module == nullptr) return nullptr;
  const auto function = module->code->function_at(address - module->base);
  if (!function) return nullptr;
  const std::uint64_t offset = address - module->base - function->start;
  if (offset >= function->code.size()) return nullptr;
  found = decode_instruction(std::span(function->code).subspan(offset), address - module->base);
  if (found) move_by(*found, module->base);
  return found ? &*found : nullptr;
}

std::uint64_t ProgramCode::start_of(std::uint64_t address) {
  const Module* module = module_at(address);
  const auto function = module == nullptr ? std::nullopt : module->code->function_at(address - module->base);
  return function ? module->base + function->start : 0;
}

std::string ProgramCode::callee(const Instruction& instruction, bool& outside) {
  outside = true;
  Module* module = module_at(instruction.address);
  if (module == nullptr) return "";
  if (instruction.target != 0) {
    std::string name = module->code->callee(instruction.target - module->base, outside);
    if (at(instruction.target) == nullptr) outside = true;
    return name;
  }
  const bool through_slot = instruction.loads && instruction.address_of == 0 && !instruction.memory.other_segment;
  if (!through_slot) {
    outside = false;  // its target is not known
    return "";
  }
  std::string name =
      module->code->stored_at(static_cast<std::uint64_t>(instruction.memory.displacement) - module->base);
  if (name.empty()) outside = false;
  return name;
}

}  // namespace reweave

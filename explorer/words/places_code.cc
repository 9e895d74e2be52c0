// Finds the functions called by the code of recorded programs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "explorer/words/places.h"
#include "formats/base/error.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/elf_names.h"
#include "formats/elf/library_code.h"

namespace reweave {

namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// The target of an instruction of `bytes` bytes at `address` that ends with a 32-bit distance.
std::uint64_t target_of(std::uint64_t address, std::span<const std::uint8_t> code, std::size_t bytes) {
  std::int32_t distance = 0;
  std::memcpy(&distance, code.data() + bytes - sizeof distance, sizeof distance);
  return address + bytes + static_cast<std::uint64_t>(std::int64_t{distance});
}

// The slot that a stub of the procedure linkage table jumps through; 0 if the code is not such a stub.
std::uint64_t slot_of_stub(std::uint64_t address, std::span<const std::uint8_t> code) {
  constexpr std::uint8_t kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
  std::size_t at = 0;
  if (code.size() >= 4 && std::equal(std::begin(kEndbr), std::end(kEndbr), code.begin())) at = 4;
  if (code.size() > at && code[at] == 0xf2) at++;  // bnd
  if (code.size() < at + 6 || code[at] != 0xff || code[at + 1] != 0x25) return 0;
  return target_of(address, code, at + 6);
}

}  // namespace

std::vector<Places::Code> Places::code_of(const std::string& function) {
  std::vector<Code> list;
  for (const Module& module : modules_) {
    if (is_of_reweave(module.path)) continue;
    const Fd file = files_.open(module.path);
    for (const CodeRange& range : symbols_.code_of(module.path, module.build_id, function)) {
      constexpr std::uint64_t kMost = 1 << 24;
      if (range.end <= range.start || range.end - range.start > kMost) continue;
      Code code = {module.base + range.start, std::vector<std::uint8_t>(range.end - range.start)};
      code.bytes.resize(read_at_address(file, range.start, code.bytes));
      list.push_back(std::move(code));
    }
    if (!list.empty()) break;
  }
  return list;
}

std::string Places::callee(std::uint64_t address, std::span<const std::uint8_t> code) {
  const std::size_t prefix = !code.empty() && code[0] == 0x67 ? 1 : 0;  // on calls that the linker has shortened
  const bool direct = code.size() >= prefix + 5 && code[prefix] == 0xe8;
  const bool through_slot = code.size() >= 6 && code[0] == 0xff && code[1] == 0x15;
  const Module* found = module_at(address);
  if (found == nullptr || (!direct && !through_slot)) return "";
  Module& module = modules_[static_cast<std::size_t>(found - modules_.data())];
  const Fd file = files_.open(module.path);
  if (!module.imports) module.imports = imported_names(file);
  const std::uint64_t target = target_of(address, code, direct ? prefix + 5 : 6) - module.base;
  std::uint64_t slot = target;
  if (direct) {
    std::vector<std::uint8_t> stub(16);
    stub.resize(read_at_address(file, target, stub));
    slot = slot_of_stub(target, stub);
    if (slot == 0) {
      const CodeSymbol& symbol = symbols_.code(module.path, module.build_id, target, false);
      return symbol.frames.empty() ? "" : symbol.frames.back().function;
    }
  }
  const auto import = module.imports->find(slot);
  return import == module.imports->end() ? "" : import->second;
}

bool Places::is_taken_over(const std::string& function) {
  if (!taken_over_) {
    taken_over_.emplace();
    for (const Module& module : modules_)
      if (is_of_reweave(module.path)) taken_over_->merge(defined_names(files_.open(module.path)));
  }
  return taken_over_->contains(function);
}

std::string Places::module_offset(std::uint64_t pc) const {
  const Module* module = module_at(pc);
  return module == nullptr ? "" : fmt::format("{}+{:#x}", base_name(module->path), pc - module->base);
}

std::uint64_t Places::address_in(const std::string& name, std::uint64_t offset) const {
  const auto found = std::ranges::find_if(modules_, [&](const Module& one) { return base_name(one.path) == name; });
  REQUIRE(found != modules_.end(), "the recorded run has mapped no file {}", name);
  return found->base + offset;
}

}  // namespace reweave

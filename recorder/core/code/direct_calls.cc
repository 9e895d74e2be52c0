#include "recorder/core/code/direct_calls.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/linkage_table.h"
#include "recorder/core/image/image.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/instant.h"
#include "recorder/core/syscalls/files/fd_table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kReach = std::uint64_t{1} << 31;  // of a jump
constexpr std::uint64_t kMostEntryBytes = 32;             // per slot: an entry, and one that marks a branch target

// The program's slots for functions of the shim, by their index in `functions`.
struct Imports {
  Places slots;
  std::uint64_t functions[Places::kMost];
  std::uint64_t all_slots;  // including those for other functions
};

std::uint64_t defined_function(const DynamicSymbols& symbols, const LoadedObject& object, const char* name) {
  const std::uint32_t i = symbols.find(
      symbol_hash(name), [&](std::uint32_t candidate) { return string_equal(symbols.name(candidate), name); });
  const bool found = i != 0 && ELF64_ST_TYPE(symbols.items[i].st_info) == STT_FUNC;
  return found ? object.bias + symbols.items[i].st_value : 0;
}

void find_imports(const LoadedObject& program, const LoadedObject& shim, Imports& imports) {
  const DynamicSymbols symbols(reinterpret_cast<const Elf64_Dyn*>(shim.dynamic), 0);
  imports.slots = Places();
  imports.all_slots = 0;
  if (!symbols.is_whole()) return;
  for_each_slot(program, DT_JMPREL, DT_PLTRELSZ, [&](std::uint64_t slot, const Elf64_Sym& symbol, const char* name) {
    imports.all_slots++;
    const std::uint32_t index = imports.slots.count;
    if (symbol.st_shndx != SHN_UNDEF || index == Places::kMost) return;
    imports.functions[index] = defined_function(symbols, shim, name);
    if (imports.functions[index] != 0) imports.slots.add(slot, index);
  });
}

// Linkers put the table at the start or the end of the code. It is not searched for elsewhere, because reading all the
// code of a large program takes long.
void find_table(const Region& code, const Imports& imports, Places& entries) {
  const std::uint64_t bytes = kPage + imports.all_slots * kMostEntryBytes;
  if (bytes >= code.end - code.start) return find_entries({code.start, code.end}, imports.slots, entries);
  find_entries({code.start, code.start + bytes}, imports.slots, entries);
  if (entries.count == 0) find_entries({code.end - bytes, code.end}, imports.slots, entries);
}

bool reaches(std::uint64_t from, std::uint64_t to) { return (from > to ? from - to : to - from) < kReach - kPage; }

void redirect(const Places& entries, const std::uint64_t (&functions)[Places::kMost]) {
  const Writable table(entries.lowest, entries.highest - entries.lowest + kMostEntryBytes);
  if (!table.done()) return;
  for (std::uint32_t i = 0; i < entries.count; i++) {
    Assembler code(jump_of(entries.items[i].address));
    const std::uint64_t function = functions[entries.items[i].index];
    if (!reaches(code.at(), function)) continue;
    code.put(kJump, function);
    code.put(kNop);
  }
}

}  // namespace

std::uint64_t place_of_shim(long fd, std::uint64_t bytes) {
  static char path[4096];
  if (is_shim_known()) return 0;
  path_of_fd(fd, path, sizeof path);
  return is_shim_file(path) ? find_free(bytes, program_end(), program_break().start - kPage) : 0;
}

void call_directly(const LoadedObject& shim) {
  static Imports imports;
  static Places entries;
  const LoadedObject program = loaded_program();
  const Region* code = code_region(program.code);
  const auto* section = reinterpret_cast<const Elf64_Dyn*>(program.dynamic);
  if (code == nullptr || section == nullptr || !is_loaded(section)) return;
  find_imports(program, shim, imports);
  if (imports.slots.count == 0) return;
  entries = Places();
  find_table(*code, imports, entries);
  if (entries.count != 0) redirect(entries, imports.functions);
}

}  // namespace reweave::core

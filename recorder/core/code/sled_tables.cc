#include "recorder/core/code/sled_tables.h"

#include <elf.h>
#include <sys/mman.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/instruction.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kEntryAlignment = alignof(SledEntry);
constexpr std::uint32_t kMostObjects = 4096;
SledObject objects[kMostObjects];
std::uint32_t object_count;

bool is_readable_file(std::uint64_t start, std::uint64_t bytes) {
  const Region* region = region_at(start);
  return region != nullptr && region->of_file && (region->prot & PROT_READ) != 0 && start + bytes >= start &&
         start + bytes <= region->accessible_end();
}

bool is_elf(std::uint64_t at) {
  return is_readable_file(at, sizeof(Elf64_Ehdr)) && memcmp(code_at(at), ELFMAG, SELFMAG) == 0 &&
         code_at(at)[EI_CLASS] == ELFCLASS64;
}

struct Headers {
  const Elf64_Phdr* items;
  std::uint32_t count;  // 0: they are not in memory
  std::uint64_t bias;
};

Headers headers_at(std::uint64_t at) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(at);
  Headers headers = {reinterpret_cast<const Elf64_Phdr*>(at + header.e_phoff), header.e_phnum, at};
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > kPage ||
      !is_readable_file(at + header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
    headers.count = 0;
  for (std::uint32_t i = 0; i < headers.count; i++)
    if (headers.items[i].p_type == PT_LOAD) {
      headers.bias = at - page_down(headers.items[i].p_vaddr);
      break;
    }
  return headers;
}

bool has_segment(const Headers& headers, std::uint64_t start) {
  for (std::uint32_t i = 0; i < headers.count; i++)
    if (headers.items[i].p_type == PT_LOAD && page_down(headers.bias + headers.items[i].p_vaddr) == start) return true;
  return false;
}

// Returns the address of the ELF header of the object with a segment at `start`; 0 if there is none. The header is in
// the object's first region, fewer than kMostBefore regions earlier.
std::uint64_t headers_of(std::uint64_t start) {
  constexpr std::uint32_t kMostBefore = 8;
  const Region* region = region_at(start);
  for (std::uint32_t i = 0; region != nullptr && i < kMostBefore; i++) {
    if (is_elf(region->start) && has_segment(headers_at(region->start), start)) return region->start;
    region = region_at(region->start - 1);
  }
  return 0;
}

std::uint64_t note_in(std::uint64_t at, std::uint64_t end) {
  while (at + sizeof(Elf64_Nhdr) <= end) {
    const auto& note = *reinterpret_cast<const Elf64_Nhdr*>(at);
    const std::uint64_t name = at + sizeof note, contents = name + round_to(note.n_namesz, 4);
    const std::uint64_t next = contents + round_to(note.n_descsz, 4);
    if (next > end) return 0;
    if (note.n_namesz == sizeof kSledNoteName && note.n_type == kSledNoteType && note.n_descsz == sizeof(SledNote) &&
        memcmp(code_at(name), kSledNoteName, sizeof kSledNoteName) == 0)
      return contents;
    at = next;
  }
  return 0;
}

// Returns the address that `field` gives as a distance from itself.
std::uint64_t at_distance(const std::int32_t& field) {
  return reinterpret_cast<std::uint64_t>(&field) + static_cast<std::uint64_t>(std::int64_t{field});
}

}  // namespace

std::uint64_t find_sled_note(std::uint64_t at) {
  if (!is_elf(at)) return 0;
  const Headers headers = headers_at(at);
  for (std::uint32_t i = 0; i < headers.count; i++) {
    const Elf64_Phdr& header = headers.items[i];
    const std::uint64_t start = headers.bias + header.p_vaddr;
    if (header.p_type != PT_NOTE || !is_readable_file(start, header.p_filesz)) continue;
    if (const std::uint64_t found = note_in(start, start + header.p_filesz); found != 0) return found;
  }
  return 0;
}

SledObject* admit_sled_object(std::uint64_t start) {
  const std::uint64_t headers = headers_of(start), note = headers == 0 ? 0 : find_sled_note(headers);
  if (note == 0) return nullptr;
  std::uint32_t i = 0;
  while (i < object_count && objects[i].headers != headers) i++;
  if (i == kMostObjects) stop_run(wire::OutcomeKind::kUnsupported, "more than 4096 libraries built by reweave-cc");
  if (i == object_count) object_count++;
  // Another object may have been there before: its stubs are reused if there are enough of them.
  objects[i].headers = headers;
  objects[i].note = note;
  objects[i].armed = false;
  return &objects[i];
}

SledObject& sled_object(std::uint32_t i) { return objects[i]; }
std::uint32_t sled_object_count() { return object_count; }

bool is_mapped_whole(const SledObject& object) {
  if (!is_elf(object.headers)) return true;  // the object was unmapped, so there is nothing to arm
  const Headers headers = headers_at(object.headers);
  const Elf64_Phdr* last = nullptr;
  for (std::uint32_t i = 0; i < headers.count; i++)
    if (headers.items[i].p_type == PT_LOAD && headers.items[i].p_filesz != 0) last = &headers.items[i];
  if (last == nullptr) return true;
  // The loader first maps the whole extent of the object, with the rights of the first segment.
  const Region* region = region_at(headers.bias + last->p_vaddr + last->p_filesz - 1);
  const bool writes = (last->p_flags & PF_W) != 0;
  return region != nullptr && (region->prot & PROT_WRITE) == (writes ? PROT_WRITE : 0u);
}

SledTable table_of(const SledObject& object) {
  if (find_sled_note(object.headers) != object.note) return {};
  const auto& note = *reinterpret_cast<const SledNote*>(object.note);
  const SledTable table = {at_distance(note.start), at_distance(note.end)};
  if (table.start >= table.end || !is_readable_file(table.start, table.end - table.start)) return {};
  return table;
}

std::uint64_t end_of_entry(const SledTable& table, std::uint64_t at) {
  if (table.end - at < sizeof(SledEntry)) return 0;
  const auto& entry = *reinterpret_cast<const SledEntry*>(at);
  if (static_cast<std::uint8_t>(entry.kind) >= kSledKinds || entry.operands > 2) return 0;
  at += sizeof entry;
  for (std::uint32_t i = 0; i < entry.operands; i++) {
    if (at >= table.end) return 0;
    const Instruction operand = decode(code_at(at));
    if (operand.bytes == 0 || operand.bytes > table.end - at) return 0;
    at += operand.bytes;
  }
  at = round_to(at, kEntryAlignment);
  return at < table.end ? at : table.end;
}

}  // namespace reweave::core

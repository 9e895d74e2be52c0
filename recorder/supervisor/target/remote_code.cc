#include "recorder/supervisor/target/remote_code.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "recorder/supervisor/process/proc_folder.h"

namespace reweave {
namespace {

// A line of /proc/PID/maps for a mapped file.
struct Mapping {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::string file;  // device and inode
  bool writable = false, executable = false;
};

bool parse(const std::string& line, Mapping& mapping) {
  char flags[5] = {}, device[16] = {};
  std::uint64_t inode = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64, &mapping.start, &mapping.end,
                  flags, &mapping.offset, device, &inode) != 6)
    return false;
  mapping.file = fmt::format("{} {}", device, inode);
  mapping.writable = flags[1] == 'w';
  mapping.executable = flags[2] == 'x';
  return inode != 0;
}

// .eh_frame_hdr in the form that every linker writes (LSB core, "Exception Frames").
struct TableHeader {
  std::uint8_t version;         // 1
  std::uint8_t frame_encoding;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  std::uint8_t count_encoding;  // DW_EH_PE_udata4
  std::uint8_t table_encoding;  // DW_EH_PE_datarel | DW_EH_PE_sdata4
  std::int32_t frame;
  std::uint32_t count;
};

}  // namespace

const RemoteMemory::Page* RemoteMemory::page(std::uint64_t start) {
  const auto known = pages_.find(start);
  if (known != pages_.end()) return &known->second;
  Page content;
  const iovec ours = {content.data(), kPage};
  const iovec theirs = {reinterpret_cast<void*>(start), kPage};
  if (process_vm_readv(pid_, &ours, 1, &theirs, 1, 0) != static_cast<ssize_t>(kPage)) {
    forbidden_ |= errno == EPERM || errno == ENOSYS;
    return nullptr;
  }
  return &pages_.emplace(start, content).first->second;
}

bool RemoteMemory::read(std::uint64_t address, void* to, std::size_t bytes) {
  auto* out = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const std::uint64_t offset = address % kPage;
    const std::size_t part = std::min<std::size_t>(bytes, kPage - offset);
    const Page* from = page(address - offset);
    if (from == nullptr) return false;
    std::memcpy(out, from->data() + offset, part);
    out += part;
    address += part;
    bytes -= part;
  }
  return true;
}

const RemoteModule* RemoteCode::known_module(std::uint64_t pc) const {
  for (const RemoteModule& module : modules_)
    if (pc >= module.start && pc < module.end) return &module;
  return nullptr;
}

const RemoteModule* RemoteCode::module_at(std::uint64_t pc) {
  const RemoteModule* module = known_module(pc);
  if (module != nullptr) return module;
  look_again();
  return known_module(pc);
}

bool RemoteCode::read(std::uint64_t address, void* to, std::size_t bytes) {
  auto behind = std::upper_bound(constant_.begin(), constant_.end(), address,
                                 [](std::uint64_t a, const Range& range) { return a < range.start; });
  if (behind == constant_.begin()) return false;
  const Range& range = *--behind;
  return address < range.end && bytes <= range.end - address && memory_.read(address, to, bytes);
}

void RemoteCode::look_again() {
  modules_.clear();
  constant_.clear();
  std::ifstream maps(proc_folder(pid_) + "/maps");
  Mapping mapping, first;              // `first`: the last mapping with a file's beginning
  std::vector<std::uint64_t> headers;  // by module; 0: not mapped
  for (std::string line; std::getline(maps, line);) {
    if (!parse(line, mapping)) continue;
    if (mapping.offset == 0 && mapping.file != first.file) first = mapping;
    if (!mapping.writable) constant_.push_back({mapping.start, mapping.end});
    if (!mapping.executable) continue;
    modules_.push_back({mapping.start, mapping.end});
    headers.push_back(mapping.file == first.file ? first.start : 0);
  }
  for (std::size_t i = 0; i < modules_.size(); i++)
    if (headers[i] != 0) find_table(modules_[i], headers[i]);
}

// `header`: address of the file's beginning in memory.
void RemoteCode::find_table(RemoteModule& module, std::uint64_t header) {
  Elf64_Ehdr elf;
  if (!read(header, &elf, sizeof elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0) return;
  if (elf.e_phentsize != sizeof(Elf64_Phdr)) return;
  std::vector<Elf64_Phdr> segments(elf.e_phnum);
  if (!read(header + elf.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return;
  std::uint64_t base = header, table = 0;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && segment.p_offset == 0) base = header - segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) table = segment.p_vaddr;
  }
  if (table == 0) return;
  module.table_header = base + table;
  read_table_header(module);
}

void RemoteCode::read_table_header(RemoteModule& module) {
  TableHeader header{};
  if (!read(module.table_header, &header, sizeof header)) return;
  if (header.version != 1 || header.count_encoding != 0x03 || header.table_encoding != 0x3b) return;
  if (header.frame_encoding != 0x1b) return;
  module.table = module.table_header + sizeof header;
  module.table_entries = header.count;
}

}  // namespace reweave

#include "replayer/live/memory_hash.h"

#include <fcntl.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "replayer/live/core_view.h"

namespace reweave {

namespace {

constexpr std::uint64_t kAtOnce = 256;                    // pages
constexpr std::uint64_t kThere = std::uint64_t{3} << 62;  // bits of a pagemap entry: present or swapped

struct Mapping {
  std::uint64_t start = 0, end = 0;
  bool of_file = false;
};

std::vector<Mapping> writable_mappings(pid_t pid) {
  std::vector<Mapping> list;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    char rights[5] = {};
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &mapping.start, &mapping.end, rights, &inode) != 4)
      continue;
    mapping.of_file = inode != 0;
    // The kernel gave the core a stack above the program's; it is no longer used.
    const bool ours = (mapping.start >= kCoreBase && mapping.start < kOursEnd) || mapping.start >= kStackTop;
    if (rights[0] == 'r' && rights[1] == 'w' && rights[3] == 'p' && !ours) list.push_back(mapping);
  }
  return list;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  hash = (hash ^ word) * kFactor;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_page(std::uint64_t hash, std::uint64_t address, const std::byte* data) {
  std::uint64_t words[kPageBytes / 8], any = 0;
  std::memcpy(words, data, sizeof words);
  for (const std::uint64_t word : words) any |= word;
  if (any == 0) return hash;
  hash = mix(hash, address);
  for (const std::uint64_t word : words) hash = mix(hash, word);
  return hash;
}

}  // namespace

std::uint64_t hash_of_memory(pid_t pid) {
  const Fd pagemap(open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> data(kAtOnce * kPageBytes);
  std::uint64_t hash = 0;
  for (const Mapping& mapping : writable_mappings(pid))
    for (std::uint64_t at = mapping.start; at < mapping.end; at += data.size()) {
      const std::uint64_t bytes = std::min<std::uint64_t>(mapping.end - at, data.size()), pages = bytes / kPageBytes;
      std::uint64_t entries[kAtOnce] = {};
      const bool known = pread(pagemap.get(), entries, pages * 8, static_cast<off_t>(at / kPageBytes * 8)) > 0;
      bool any = mapping.of_file || !known;
      for (std::uint64_t i = 0; i < pages; i++) any = any || (entries[i] & kThere) != 0;
      if (!any || !read_memory(pid, at, data.data(), bytes)) continue;
      for (std::uint64_t i = 0; i < pages; i++)
        hash = hash_page(hash, at + i * kPageBytes, data.data() + i * kPageBytes);
    }
  return hash;
}

bool same_registers(user_regs_struct a, user_regs_struct b) {
  constexpr std::uint64_t kTrap = 0x100, kResume = 0x10000;
  for (user_regs_struct* values : {&a, &b}) {
    values->orig_rax = 0;
    values->eflags &= ~(kTrap | kResume);
    values->gs_base = 0;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace reweave

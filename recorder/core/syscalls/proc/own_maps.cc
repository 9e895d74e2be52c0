#include "recorder/core/syscalls/proc/own_maps.h"

#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/proc/proc_path.h"
#include "recorder/core/syscalls/proc/shown_file.h"

namespace reweave::core {

namespace {

constexpr const char* kNames[] = {"maps", "smaps", "numa_maps"};

// The first address of a line "start-end ..." or, in numa_maps, "start ..."; false if the line does not begin with one,
// like the detail lines of smaps.
bool parse_start(const char* line, std::uint64_t& start) {
  start = 0;
  const char* p = line;
  for (; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
    start = start << 4 | static_cast<std::uint64_t>(*p <= '9' ? *p - '0' : *p - 'a' + 10);
  return p != line && (*p == '-' || *p == ' ');
}

// True for memory that the program has not mapped: the core's, its stack, and the vDSO, which the program does not get.
// The vsyscall page is shown.
bool is_foreign(std::uint64_t start) {
  constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;
  return start < kUserEnd && (is_ours(start, 1) || (start >= kStackTop && region_at(start) == nullptr));
}

// Drops lines about foreign memory. `context` points to a bool: whether the last mapping was foreign, because smaps has
// further lines about each mapping.
void edit_maps(ShownLine& line, void* context) {
  bool& foreign = *static_cast<bool*>(context);
  std::uint64_t start = 0;
  if (parse_start(line.text, start)) foreign = is_foreign(start);
  if (foreign) line.length = 0;
}

}  // namespace

bool is_own_maps(const char* path) {
  const ProcPath parts = parse_proc_path(path);
  if (process_of(parts) == nullptr) return false;
  for (const char* name : kNames)
    if (string_equal(parts.file, name)) return true;
  return false;
}

long open_own_maps(const char* path, long flags) {
  bool foreign = false;
  return open_edited(path, flags, edit_maps, &foreign);
}

void refresh_own_maps(long fd, const char* path) {
  bool foreign = false;
  refresh_edited(fd, path, edit_maps, &foreign);
}

}  // namespace reweave::core

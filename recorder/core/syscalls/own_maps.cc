#include "recorder/core/syscalls/own_maps.h"

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"
#include "recorder/core/syscalls/shown_file.h"

namespace reweave::core {

namespace {

constexpr const char* kNames[] = {"maps", "smaps"};

// The first address of a line "start-end ...", or false if it does not begin with one: smaps has such lines.
bool parse_start(const char* line, std::uint64_t& start) {
  start = 0;
  const char* p = line;
  for (; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
    start = start << 4 | static_cast<std::uint64_t>(*p <= '9' ? *p - '0' : *p - 'a' + 10);
  return p != line && *p == '-';
}

// The kernel does not know where the heap is, for brk is ours.
void name_heap(ShownLine& line) {
  constexpr std::size_t kNameColumn = 73;
  while (line.length > 0 && (line.text[line.length - 1] == '\n' || line.text[line.length - 1] == ' ')) line.length--;
  while (line.length < kNameColumn) line.text[line.length++] = ' ';
  line.length += copy_string(line.text + line.length, sizeof line.text - line.length, "[heap]\n");
}

// Memory that the program has not mapped: the core's, its stack, the vDSO that it does not get. The vsyscall page is
// everybody's.
bool is_foreign(std::uint64_t start) {
  constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;
  return start < kUserEnd && region_at(start) == nullptr;
}

// Drops lines about such. `context` is whether the last mapping was: smaps says more of it in further lines.
void edit_maps(ShownLine& line, void* context) {
  bool& foreign = *static_cast<bool*>(context);
  std::uint64_t start = 0;
  if (parse_start(line.text, start)) foreign = is_foreign(start);
  if (foreign)
    line.length = 0;
  else if (start != 0 && start == program_break().start)
    name_heap(line);
}

}  // namespace

bool is_own_maps(const char* path) {
  if (!starts_with(path, "/proc/")) return false;
  for (const char* name : kNames) {
    Text own;
    own << "/proc/" << static_cast<int>(process().pid) << "/" << name;
    Text self, thread;
    self << "/proc/self/" << name;
    thread << "/proc/thread-self/" << name;
    if (string_equal(path, own.c_str()) || string_equal(path, self.c_str()) || string_equal(path, thread.c_str()))
      return true;
  }
  return false;
}

long open_own_maps(const char* path, long flags) {
  bool foreign = false;
  return open_edited(path, flags, edit_maps, &foreign);
}

}  // namespace reweave::core

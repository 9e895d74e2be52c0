#include "recorder/core/explored/model_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/open_own.h"
#include "recorder/core/memory/address_space.h"

#pragma GCC visibility push(hidden)
extern "C" char core_model_start[], core_model_end[];  // core.ld
#pragma GCC visibility pop

namespace reweave::core {

namespace {

// The ends of the used parts of the two areas after the variables.
IN_MODEL std::uint64_t index_end, room_end;

struct Area {
  std::uint64_t start, end;
};

Area variables() {
  return {reinterpret_cast<std::uint64_t>(core_model_start), reinterpret_cast<std::uint64_t>(core_model_end)};
}

// Layout of the file: the variables, then the index, then the room.
std::uint64_t index_offset() { return variables().end - variables().start; }
std::uint64_t room_offset(std::uint64_t end_of_index) { return index_offset() + (end_of_index - kIndexBase); }

[[noreturn]] void give_up(const char* why) { stop_run(wire::OutcomeKind::kUnsupported, why); }

constexpr std::uint64_t kPageEntries = 512;  // read at a time

// Copies the pages of `area` that exist: most of it was never touched.
void copy_pages(const Area& area, std::uint64_t offset) {
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62;  // pagemap, proc(5)
  const long pagemap = open_own(kProcFd, "thread-self/pagemap", 0);
  std::uint64_t entries[kPageEntries];
  for (std::uint64_t at = area.start; at < area.end;) {
    const std::uint64_t left = (area.end - at) / kPage, pages = left < kPageEntries ? left : kPageEntries;
    if (sys(SYS_pread64, pagemap, entries, pages * 8, at / kPage * 8) != static_cast<long>(pages * 8))
      give_up("/proc does not list a process's memory; Reweave needs this list to run several processes");
    for (std::uint64_t i = 0; i < pages; i++, at += kPage)
      if ((entries[i] & (kPresent | kSwapped)) != 0 &&
          sys(SYS_pwrite64, kModelFd, at, kPage, offset + (at - area.start)) != static_cast<long>(kPage))
        give_up("no memory for runs of several processes");
  }
  sys(SYS_close, pagemap);
}

void map_area(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset) {
  if (bytes != 0 &&
      is_error(sys(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kModelFd, offset)))
    give_up("no room for the memory that a run's processes share; allow the process more memory");
}

}  // namespace

std::byte* take_model_room(std::uint64_t bytes) {
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (room_end == 0) {
    if (state().run_is_tree == 0 &&
        is_error(sys(SYS_mmap, kModelBase, kModelBytes, PROT_READ | PROT_WRITE, kHow, -1, 0)))
      return nullptr;
    room_end = kModelBase;
  }
  bytes = page_up(bytes);
  if (bytes > kModelBase + kModelBytes - room_end) return nullptr;
  room_end += bytes;
  return reinterpret_cast<std::byte*>(room_end - bytes);
}

void note_index_end(std::uint64_t end) { index_end = end; }

void share_model() {
  const long fd = sys(SYS_memfd_create, "model", 0);
  const std::uint64_t end = index_end, room = room_offset(end);
  if (is_error(fd) || is_error(sys(SYS_dup3, fd, kModelFd, 0)) ||
      is_error(sys(SYS_ftruncate, kModelFd, room + kModelBytes)))
    give_up("cannot make a file for the memory that a run's processes share");
  sys(SYS_close, fd);
  copy_pages(variables(), 0);
  copy_pages({kIndexBase, end}, index_offset());
  if (room_end != 0) copy_pages({kModelBase, room_end}, room);
  attach_model();
  state().run_is_tree = 1;
}

void attach_model() {
  map_area(variables().start, index_offset(), 0);
  map_area(kIndexBase, index_end - kIndexBase, index_offset());
  map_area(kModelBase, kModelBytes, room_offset(index_end));
}

}  // namespace reweave::core

// Memory management: performed in every mode, at addresses that the core chooses.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/direct_calls.h"
#include "recorder/core/image/image.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/instant.h"
#include "recorder/core/processor/mapped_code.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_contents.h"
#include "recorder/core/syscalls/files/map_file.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Kept free below a mapping that the kernel lets grow down; the kernel itself requires 1 MiB to the next mapping.
constexpr std::uint64_t kGrowthRoom = std::uint64_t{4} << 20;
constexpr std::uint64_t k32BitTop = 0x8000'0000;
constexpr std::uint64_t k32BitBottom = 0x4000'0000;
constexpr std::uint64_t kLowestHint = 0x1'0000;  // vm.mmap_min_addr, as distributions set it

// The file to be mapped. Recording: also whether the descriptor is open, and its status, which comes from the program's
// own call just before, or else from a single call of the core.
struct MappedDescriptor {
  long fd;
  bool is_open;
  bool was_told;  // `status` is what the program received
  struct stat status;
};

MappedDescriptor look_at(long fd) {
  MappedDescriptor mapped = {fd, false, false, {}};
  if (!live() || is_our_fd(fd)) return mapped;
  if (const struct stat* told = told_status(fd)) return {fd, true, true, *told};
  mapped.is_open = lent_call(SYS_fstat, fd, &mapped.status) != -EBADF;
  return mapped;
}

// Recording: logs what was mapped, and the contents that the log must have.
void log_mapping(const Call& call, const MappedDescriptor& mapped, std::uint64_t start, std::uint64_t bytes,
                 FileIdentity& file) {
  const long prot = call.args[2], flags = call.args[3], offset = call.args[5];
  SmallContents contents = {};
  if (identify_small_file(mapped.fd, mapped.status, prot, flags, file, contents)) {
    log_mapped_file(file, start, bytes, offset, prot, flags);
    return log_small_file(contents.data, contents.bytes);
  }
  struct stat status = mapped.status;
  if (mapped.was_told)
    sys(SYS_fstat, mapped.fd, &status);  // with the baton: no other thread may log between these records
  identify_file(mapped.fd, status, file);
  decide_inlining(file, mapped.fd, prot, flags);
  log_mapped_file(file, start, bytes, offset, prot, flags);
  log_contents_of(file, mapped.fd, static_cast<std::uint64_t>(offset), bytes);
}

std::uint64_t unit_of_file(const MappedDescriptor& mapped) {
  if (!mapped.is_open || static_cast<std::uint64_t>(mapped.status.st_blksize) <= kPage) return kPage;
  struct statfs system = {};
  const bool huge = !is_error(lent_call(SYS_fstatfs, mapped.fd, &system)) && system.f_type == HUGETLBFS_MAGIC;
  return huge ? static_cast<std::uint64_t>(mapped.status.st_blksize) : kPage;
}

// The unit of addresses and sizes of anonymous memory: a page, or a huge page if requested.
std::uint64_t unit_of_memory(std::uint64_t flags) {
  constexpr std::uint64_t kDefaultHuge = std::uint64_t{2} << 20;
  constexpr std::uint64_t kLeast = 12, kMost = 40;  // logarithms; no other sizes exist
  if ((flags & MAP_HUGETLB) == 0) return kPage;
  const std::uint64_t logarithm = flags >> MAP_HUGE_SHIFT & MAP_HUGE_MASK;
  if (logarithm == 0) return kDefaultHuge;
  return logarithm < kLeast || logarithm > kMost ? kPage : std::uint64_t{1} << logarithm;
}

std::uint64_t round_up_to(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

// Returns the address for a mapping of `bytes`; 0 if there is no room. A hint counts for every kind of mapping
// (get_unmapped_area in the kernel's mm/mmap.c). A hint below the lowest address that may be mapped is raised to that
// address.
std::uint64_t choose_address(std::uint64_t wanted, std::uint64_t bytes, std::uint64_t flags, std::uint64_t unit) {
  const bool low = (flags & MAP_32BIT) != 0;
  std::uint64_t hint = wanted & ~(unit - 1);
  if (hint != 0 && hint < kLowestHint) hint = unit == kPage ? kLowestHint : 0;
  const bool within = !low || (hint < k32BitTop && bytes <= k32BitTop - hint);
  if (hint != 0 && within && !is_ours(hint, bytes) && is_free(hint, bytes)) return hint;
  if (unit != kPage) {
    const std::uint64_t with_room = find_free(bytes + unit - kPage);
    return with_room == 0 ? 0 : round_up_to(with_room, unit);
  }
  if (low) return find_free(bytes, k32BitBottom, k32BitTop);
  if ((flags & MAP_GROWSDOWN) == 0) return find_free(bytes);
  const std::uint64_t with_room = find_free(bytes + kGrowthRoom);
  return with_room == 0 ? 0 : with_room + kGrowthRoom;
}

// Memory shared by processes of the tree gets a number, so that futexes in it have the same key everywhere.
Region describe(const Call& call, std::uint64_t start, std::uint64_t bytes, const FileIdentity* file) {
  const auto flags = static_cast<std::uint64_t>(call.args[3]);
  Region region = {start, start + bytes, rights_of(call.args[2]), (flags & MAP_SHARED) != 0, 0, 0, kNoFile};
  if (file != nullptr && !file->zeros) {
    const auto offset = static_cast<std::uint64_t>(call.args[5]);
    const std::uint64_t behind = file->size > offset ? page_up(file->size - offset) : 0;
    region.file_end = start + behind;
    region.of_file = true;
    if (region.shared) region.shared_id = file->device * 0x9e3779b97f4a7c15 + file->inode;
    region.object_offset = offset;
    region.read_only = file->read_only;
    if (file->changeable) region.stand_in = note_stand_in(*file);
  } else if (region.shared) {
    region.shared_id = ++state().shared_ids;
  }
  return region;
}

long map_anonymous(Call& call, std::uint64_t start, std::uint64_t bytes) {
  // A replay or an explored run might lack the permission to lock pages, and nothing that a program sees depends on it.
  const long left_out = MAP_FIXED_NOREPLACE | MAP_32BIT | (live() ? 0 : MAP_LOCKED);
  const long flags = (call.args[3] & ~left_out) | MAP_FIXED;
  const long result = sys(SYS_mmap, start, bytes, call.args[2], flags, -1, 0);
  if (!is_error(result)) add_region(describe(call, start, bytes, nullptr));
  const bool room = (flags & MAP_GROWSDOWN) != 0 && is_free(start - kGrowthRoom, kGrowthRoom);
  if (!is_error(result) && room) add_region({start - kGrowthRoom, start, PROT_NONE, false, 0, 0, kNoFile});
  return complete(call, result);
}

// Call this after logging the mapping, because a record of its code may follow.
void add_file_region(const Call& call, std::uint64_t start, std::uint64_t bytes, const FileIdentity& file) {
  add_region(describe(call, start, bytes, &file));
  if ((call.args[2] & PROT_EXEC) == 0) return;
  note_shim(file.path, start - static_cast<std::uint64_t>(call.args[5]));
  take_mapped_code(start, start + bytes,
                   in_interpreter(call.context.registers.rip) ? MappedBy::kLoader : MappedBy::kOther, file,
                   static_cast<std::uint64_t>(call.args[5]));
}

// True for devices, packet sockets and performance counters: the kernel or hardware would write to their mapped memory
// at arbitrary times. Programs have fallbacks for kernels without these.
bool is_shared_by_kernel(const struct stat& status) {
  constexpr std::uint64_t kMemoryDevices = 1;  // /dev/zero and similar (Documentation/admin-guide/devices.txt)
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFBLK:
      return false;
    case S_IFCHR:
      return (status.st_rdev >> 8 & 0xfff) != kMemoryDevices;
    default:
      return true;
  }
}

// A page fault must not wait for another thread of the tree, because the faulting thread keeps the baton.
long refused_mapping(Call& call) {
  static bool reported;
  constexpr char kText[] =
      "reweave: a program maps a file that a recorded program serves (FUSE), which is not supported; the call fails "
      "with ENODEV: map a copy elsewhere\n";
  if (!reported) sys(SYS_write, 2, kText, sizeof kText - 1);
  reported = true;
  return complete(call, -ENODEV);
}

long map_of_file(Call& call, const MappedDescriptor& mapped, std::uint64_t start, std::uint64_t bytes) {
  FileIdentity file = {};
  const auto flags = (call.args[3] & ~(MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_DENYWRITE)) | MAP_FIXED;
  if (modelled()) {
    const RecordedMapping recorded = explored.mapping(call, 4);
    if (recorded.error != 0) return complete(call, recorded.error);
    if (recorded.file == nullptr) return explored.answer(call);
    log_call(call, static_cast<long>(start), nullptr, 0);
    map_modelled_file(*recorded.file, file, start, bytes, call.args[2], flags, call.args[5]);
    add_file_region(call, start, bytes, file);
    return static_cast<long>(start);
  }
  if (replaying()) {
    if (!has_failed(call)) remove_region(start, start + bytes);  // before the log's hash of memory
    const long result = inject(call);
    if (is_error(result)) return result;
    bytes = recorded_mapping_bytes();
    map_recorded_file(file, start, bytes, call.args[2], flags, call.args[5]);
    add_file_region(call, start, bytes, file);
    return result;
  }
  if (is_shared_by_kernel(mapped.status)) return complete(call, -ENODEV);
  if (is_served(mapped.fd)) return refused_mapping(call);
  const long result = sys(SYS_mmap, start, bytes, call.args[2], flags, mapped.fd, call.args[5]);
  if (!is_error(result)) remove_region(start, start + bytes);
  log_call(call, result, nullptr, 0);
  if (is_error(result)) return result;
  log_mapping(call, mapped, start, bytes, file);
  add_file_region(call, start, bytes, file);
  return result;
}

}  // namespace

long refused_range(Call& call, const char* what) {
  static bool reported;
  Text text;
  text << "reweave: the program asked to " << what << " memory that belongs to Reweave; the call fails with ENOMEM\n";
  if (!reported) sys(SYS_write, 2, text.c_str(), text.size());
  reported = true;
  return complete(call, -ENOMEM);
}

namespace {

// Returns the number of mappings that the program may have. The kernel's limit includes the core's mappings, of which a
// replay has more.
std::uint32_t most_mapped() {
  constexpr std::uint32_t kOurs = 128;
  static std::uint32_t most;
  if (most != 0) return most;
  most = kMostMapped;
  char text[24] = {};
  const long fd = sys(SYS_openat, kProcFd, "sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  if (!is_error(fd)) sys(SYS_read, fd, text, sizeof text - 1), sys(SYS_close, fd);
  std::uint64_t limit = 0;
  for (const char* digit = text; *digit >= '0' && *digit <= '9'; digit++)
    limit = limit * 10 + static_cast<std::uint64_t>(*digit - '0');
  if (limit > kOurs && limit - kOurs < most) most = static_cast<std::uint32_t>(limit - kOurs);
  return most;
}

}  // namespace

long handle_mmap(Call& call) {
  const auto flags = static_cast<std::uint64_t>(call.args[3]);
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  const MappedDescriptor mapped = anonymous ? MappedDescriptor{} : look_at(call.args[4]);
  const std::uint64_t unit = anonymous ? unit_of_memory(flags) : unit_of_file(mapped);
  const std::uint64_t bytes = round_up_to(static_cast<std::uint64_t>(call.args[1]), unit);
  auto start = static_cast<std::uint64_t>(call.args[0]);
  long recorded = 0;
  if ((call.args[5] & (kPage - 1)) != 0) return complete(call, -EINVAL);
  if (!anonymous && has_failed(call)) return inject(call);
  if (!anonymous && live() && !mapped.is_open) return complete(call, -EBADF);
  if (call.args[1] == 0) return complete(call, -EINVAL);
  if (bytes == 0) return complete(call, -ENOMEM);
  if ((flags & MAP_TYPE) == 0) return complete(call, -EINVAL);
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
    if ((start & (kPage - 1)) != 0) return complete(call, -EINVAL);
    if (beyond_user_space(start, bytes)) return complete(call, -ENOMEM);
    if (is_ours(start, bytes)) return refused_range(call, "map");
    if ((flags & MAP_FIXED_NOREPLACE) != 0 && !is_free(start, bytes)) return complete(call, -EEXIST);
  } else if (!anonymous && next_result(call, recorded) && !is_error(recorded)) {
    start = static_cast<std::uint64_t>(recorded);  // the file determined the unit of the mapping
  } else {
    const std::uint64_t near = !anonymous && live() && start == 0 ? place_of_shim(mapped.fd, bytes) : 0;
    start = near != 0 ? near : choose_address(start, bytes, flags, unit);
    if (start == 0) return complete(call, -ENOMEM);
  }
  if (has_failed(call)) return inject(call);
  if (!replaying() && (regions().count >= most_mapped() || over_memory_limit(bytes))) return complete(call, -ENOMEM);
  if (gains_execution(0, 0, call.args[2])) return complete(call, -EACCES);
  return anonymous ? map_anonymous(call, start, bytes) : map_of_file(call, mapped, start, bytes);
}

namespace {

// The kernel's check in mlockall (mlock(2)): without the capability, the limit applies.
long check_locking(const Call& call) {
  constexpr long kKnown = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
  if (call.args[0] == 0 || (call.args[0] & ~kKnown) != 0 || call.args[0] == MCL_ONFAULT) return -EINVAL;
  constexpr std::uint32_t kVersion3 = 0x20080522, kIpcLock = 14;  // capabilities(7)
  const std::uint32_t header[2] = {kVersion3, 0};
  std::uint32_t sets[6] = {};
  std::uint64_t limit[2] = {};
  sys(SYS_capget, header, sets);
  if ((sets[0] & std::uint32_t{1} << kIpcLock) != 0) return 0;
  sys(SYS_prlimit64, 0, RLIMIT_MEMLOCK, nullptr, limit);
  if (limit[0] == 0) return -EPERM;
  return (call.args[0] & MCL_CURRENT) != 0 && mapped_bytes() > limit[0] ? -ENOMEM : 0;
}

}  // namespace

// mlockall is checked but not made: it would also fill and lock the core's mappings, and nothing that a program sees
// depends on it. munlockall is made, because it undoes every mlock.
long handle_mlockall(Call& call) { return complete(call, check_locking(call)); }

long handle_munlockall(Call& call) { return complete(call, sys(SYS_munlockall)); }

long handle_munmap(Call& call) {
  const auto start = static_cast<std::uint64_t>(call.args[0]);
  const std::uint64_t bytes = page_up(static_cast<std::uint64_t>(call.args[1]));
  if ((start & (kPage - 1)) != 0 || bytes == 0 || beyond_user_space(start, bytes)) return complete(call, -EINVAL);
  if (is_ours(start, bytes)) return refused_range(call, "unmap");
  if (has_failed(call)) return inject(call);
  const long result = sys(SYS_munmap, start, bytes);
  if (!is_error(result)) remove_region(start, start + bytes);
  return complete(call, result);
}

long handle_brk(Call& call) {
  ProgramBreak& heap = program_break();
  const auto wanted = static_cast<std::uint64_t>(call.args[0]);
  const std::uint64_t mapped = page_up(heap.end);
  const std::uint64_t needed = page_up(wanted);
  if (wanted < heap.start || wanted > heap.start + (std::uint64_t{64} << 30))
    return complete(call, static_cast<long>(heap.end));
  long recorded = 0;
  if (needed > mapped) {
    const bool no_room = next_result(call, recorded) && recorded != call.args[0];
    if (no_room || !is_free(mapped, needed - mapped) || is_ours(mapped, needed - mapped) ||
        over_memory_limit(needed - mapped))
      return complete(call, static_cast<long>(heap.end));
    const long result =
        sys(SYS_mmap, mapped, needed - mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (is_error(result)) return complete(call, static_cast<long>(heap.end));
    add_region({mapped, needed, rights_of(PROT_READ | PROT_WRITE), false, 0, 0, kNoFile});
  } else if (needed < mapped) {
    sys(SYS_munmap, needed, mapped - needed);
    remove_region(needed, mapped);
  }
  heap.end = wanted;
  return complete(call, static_cast<long>(wanted));
}

}  // namespace reweave::core

// System V shared memory, semaphores and message queues. The objects exist only while recording; in a replay, attached
// memory is a stand-in, as for files that change while they are mapped (stand_in.h).
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/file_contents.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kDevice = 0x5659'5356'5359'5356;  // "VSYSVSYV": no device has this number
constexpr std::uint64_t kIdFactor = 0x9e3779b97f4a7c15;

struct ControlSize {
  long command;
  std::uint64_t bytes;
};

// Live: makes the call and logs the `bytes` that the command writes at argument `slot`.
template <std::size_t N>
long control(Call& call, int command_slot, int slot, const ControlSize (&sizes)[N]) {
  std::uint64_t bytes = 0;
  for (const ControlSize& size : sizes)
    if (size.command == call.args[command_slot]) bytes = size.bytes;
  const long result = sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3]);
  return log_value(call, result, static_cast<std::uint64_t>(call.args[slot]), is_error(result) ? 0 : bytes);
}

void identify(long id, std::uint64_t bytes, FileIdentity& file) {
  Text name;
  name << "/SYSV" << static_cast<int>(id);
  file.device = kDevice;
  file.inode = static_cast<std::uint64_t>(id);
  file.size = bytes;
  file.ctime_ns = 0;
  file.changeable = true;
  copy_string(file.path, sizeof file.path, name.c_str());
}

std::uint64_t shared_id_of(const FileIdentity& file) { return file.device * kIdFactor + file.inode; }

void add_segment(const Call& call, const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot) {
  Region region = {start, start + bytes, static_cast<std::uint32_t>(prot), true, shared_id_of(file), 0, kNoFile};
  region.read_only = (call.args[2] & SHM_RDONLY) != 0;
  if (modelled()) region.stand_in = find_stand_in(file.device, file.inode);  // other attachments show the segment too
  add_region(region);
}

// The address for the segment, or a negative error.
long choose_place(std::uint64_t wanted, std::uint64_t bytes, long flags) {
  if (wanted == 0) {
    const std::uint64_t place = (flags & SHM_REMAP) != 0 ? 0 : find_free(bytes);
    return place != 0 ? static_cast<long>(place) : (flags & SHM_REMAP) != 0 ? -EINVAL : -ENOMEM;
  }
  const std::uint64_t start = (flags & SHM_RND) != 0 ? page_down(wanted) : wanted;
  if (start % kPage != 0 || is_ours(start, bytes)) return -EINVAL;
  if ((flags & SHM_REMAP) == 0 && !is_free(start, bytes)) return -EINVAL;
  return static_cast<long>(start);
}

long protection(long flags) {
  const long readable = (flags & SHM_RDONLY) != 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  return readable | ((flags & SHM_EXEC) != 0 ? PROT_EXEC : 0);
}

long attach_modelled(Call& call, FileIdentity& file, long prot) {
  const RecordedMapping recorded = explored.mapping(call, 0);
  if (recorded.error != 0) return complete(call, recorded.error);
  if (recorded.file == nullptr) return explored.answer(call);
  const std::uint64_t bytes = recorded.file->length;
  const long place = choose_place(static_cast<std::uint64_t>(call.args[1]), bytes, call.args[2]);
  log_call(call, place, nullptr, 0);
  if (is_error(place)) return place;
  const auto start = static_cast<std::uint64_t>(place);
  map_modelled_file(*recorded.file, file, start, bytes, prot, MAP_SHARED | MAP_FIXED, 0);
  add_segment(call, file, start, bytes, prot);
  return place;
}

}  // namespace

long handle_shmat(Call& call) {
  static FileIdentity file;
  const long prot = protection(call.args[2]);
  if (modelled()) return attach_modelled(call, file, prot);
  if (replaying()) {
    const long result = inject(call);
    if (is_error(result)) return result;
    const auto start = static_cast<std::uint64_t>(result);
    const std::uint64_t bytes = recorded_mapping_bytes();
    map_recorded_file(file, start, bytes, prot, MAP_SHARED | MAP_FIXED, 0);
    add_segment(call, file, start, bytes, prot);
    return result;
  }
  struct shmid_ds status = {};
  const long known = sys(SYS_shmctl, call.args[0], IPC_STAT, &status);
  if (is_error(known)) return complete(call, known);
  const std::uint64_t bytes = page_up(status.shm_segsz);
  const long place = choose_place(static_cast<std::uint64_t>(call.args[1]), bytes, call.args[2]);
  const long result = is_error(place) ? place : sys(SYS_shmat, call.args[0], place, call.args[2] & ~SHM_RND);
  log_call(call, result, nullptr, 0);
  if (is_error(result)) return result;
  const auto start = static_cast<std::uint64_t>(result);
  identify(call.args[0], bytes, file);
  log_mapped_file(file, start, bytes, 0, prot, MAP_SHARED);
  log_memory(start, bytes);
  add_segment(call, file, start, bytes, prot);
  return result;
}

namespace {

bool is_segment(const Region& region) {
  return region.shared && region.file_end == kNoFile && region.shared_id - kDevice * kIdFactor <= 0xffff'ffff;
}

// The first remaining part of a segment attached at `start`, of the segment `id` if that is not 0. Each part is still
// at its place, even if others were unmapped (ksys_shmdt in the kernel's ipc/shm.c).
const Region* find_part(std::uint64_t start, std::uint64_t id) {
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    const bool in_place = region.start >= start && region.start - start == region.object_offset;
    if (in_place && is_segment(region) && (id == 0 || region.shared_id == id)) return &region;
  }
  return nullptr;
}

}  // namespace

long handle_shmdt(Call& call) {
  const auto start = static_cast<std::uint64_t>(call.args[0]);
  const Region* part = start % kPage == 0 ? find_part(start, 0) : nullptr;
  if (part == nullptr) return complete(call, -EINVAL);
  if (has_failed(call)) return inject(call);
  const std::uint64_t id = part->shared_id;
  const long result = live() ? sys(SYS_shmdt, start) : 0;
  for (; !is_error(result) && part != nullptr; part = find_part(start, id)) {
    if (!live()) sys(SYS_munmap, part->start, part->end - part->start);
    remove_region(part->start, part->end);
  }
  return complete(call, result);
}

long handle_shmctl(Call& call) {
  constexpr ControlSize kSizes[] = {
      {IPC_STAT, 112}, {SHM_STAT, 112}, {15 /* SHM_STAT_ANY */, 112}, {IPC_INFO, 72}, {SHM_INFO, 48}};
  return control(call, 1, 2, kSizes);
}

long handle_msgctl(Call& call) {
  constexpr ControlSize kSizes[] = {
      {IPC_STAT, 120}, {MSG_STAT, 120}, {13 /* MSG_STAT_ANY */, 120}, {IPC_INFO, 32}, {MSG_INFO, 32}};
  return control(call, 1, 2, kSizes);
}

long handle_semctl(Call& call) {
  constexpr long kUseArgument[] = {IPC_SET, IPC_STAT, SEM_STAT, 20 /* SEM_STAT_ANY */, IPC_INFO, SEM_INFO,
                                   GETALL,  SETALL,   SETVAL};
  bool used = false;
  for (long command : kUseArgument) used = used || command == call.args[2];
  if (!used) use_arguments(call, 3);
  if (!live()) return answered_call(call);
  std::uint64_t all = 0;
  if (call.args[2] == GETALL) {
    struct semid_ds status = {};
    if (!is_error(sys(SYS_semctl, call.args[0], 0, IPC_STAT, &status))) all = status.sem_nsems * 2;
  }
  const ControlSize sizes[] = {{IPC_STAT, 104}, {SEM_STAT, 104}, {20 /* SEM_STAT_ANY */, 104},
                               {IPC_INFO, 40},  {SEM_INFO, 40},  {GETALL, all}};
  return control(call, 2, 3, sizes);
}

}  // namespace reweave::core

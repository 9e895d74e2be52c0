// The lists of set_robust_list(2) (Documentation/locking/robust-futexes.rst). The kernel does not know them, because it
// would walk them at arbitrary times.
#include "recorder/core/schedule/robust.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr int kMaxEntries = 2048;  // ROBUST_LIST_LIMIT: a list may be circular

struct IoVector {
  const void* base;
  std::uint64_t bytes;
};

// Memory of a process, addressed as in that process.
class Memory {
 public:
  explicit Memory(const Process& of) : of_(of), own_(of.index == self().process) {
    if (own_) return;
    read(reinterpret_cast<std::uint64_t>(&regions()), &other_regions, sizeof other_regions);
    if (other_regions.count > kMaxRegions) other_regions.count = 0;
    read(reinterpret_cast<std::uint64_t>(other_regions.items), other_items, other_regions.count * sizeof(Region));
    other_regions.items = other_items;
  }
  const Region* region_at(std::uint64_t address) const {
    const RegionTable& table = own_ ? regions() : other_regions;
    for (std::uint32_t i = 0; i < table.count; i++)
      if (table.items[i].start <= address && address < table.items[i].end) return &table.items[i];
    return nullptr;
  }
  bool read(std::uint64_t address, void* to, std::uint64_t bytes) const {
    return move(SYS_process_vm_readv, address, to, bytes);
  }
  bool write(std::uint64_t address, const void* from, std::uint64_t bytes) const {
    return move(SYS_process_vm_writev, address, from, bytes);
  }
  bool own() const { return own_; }

 private:
  bool move(long number, std::uint64_t address, const void* here, std::uint64_t bytes) const {
    const IoVector local = {here, bytes};
    const IoVector remote = {reinterpret_cast<const void*>(address), bytes};
    const long pid = own_ ? sys(SYS_getpid) : kernel_id(of_);
    return sys(number, pid, &local, 1, &remote, 1, 0) == static_cast<long>(bytes);
  }

  static Region other_items[kMaxRegions];
  static RegionTable other_regions;
  const Process& of_;
  bool own_;
};
Region Memory::other_items[kMaxRegions];
RegionTable Memory::other_regions;

// True if `tid` held the futex.
bool mark_dead(const Memory& memory, std::uint64_t address, std::int32_t tid) {
  std::uint32_t word = 0;
  if (!memory.read(address, &word, sizeof word)) return false;
  if ((word & FUTEX_TID_MASK) != static_cast<std::uint32_t>(tid)) return false;
  word = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
  return memory.write(address, &word, sizeof word);
}

// Releases one entry of a list. For a process that leaves its memory, only shared memory matters to others.
void give_up(const Memory& memory, std::uint64_t address, std::int32_t tid) {
  const Region* region = memory.region_at(address);
  if (region == nullptr || (!region->shared && !memory.own()) || !mark_dead(memory, address, tid)) return;
  const std::uint64_t key = region->shared ? shared_key(*region, address) : object_key(address);
  wake(WaitKind::kFutex, key, 1);
  // The shim's waiters wait for the mutex, not for the word; both have the same address.
  wake(WaitKind::kMutex, key, ~0u);
}

void walk(const Memory& memory, const Thread& thread) {
  std::uint64_t head[3];  // first entry, offset of the word in an entry, the entry being acquired or released
  if (thread.robust_list == 0 || !memory.read(thread.robust_list, head, sizeof head)) return;
  std::uint64_t entry = head[0] & ~std::uint64_t{1};
  for (int left = kMaxEntries; entry != thread.robust_list && entry != 0 && left > 0; left--) {
    std::uint64_t next = 0;
    if (!memory.read(entry, &next, sizeof next)) return;
    if (entry != head[2]) give_up(memory, entry + head[1], thread.tid);
    entry = next & ~std::uint64_t{1};
  }
  if (head[2] != 0) give_up(memory, (head[2] & ~std::uint64_t{1}) + head[1], thread.tid);
}

// The kernel knows the waiters of a lock with priority inheritance (FUTEX_LOCK_PI), so the lock is released even if it
// is on no list. `only`: null if the whole process ends.
void release_inherited(const Process& owners, const Thread* only) {
  RuntimeState& s = state();
  for (const Thread& waiter : Members(s.threads, s.waiting_for_owner, s.thread_count)) {
    const Thread* owner = thread_by_tid(waiter.wait.owner_tid, pid_namespace_of(waiter));
    if (owner == nullptr || owner->process != owners.index || (only != nullptr && owner != only)) continue;
    if (only == nullptr && waiter.process == owners.index) continue;
    if (mark_dead(Memory(s.processes[waiter.process]), waiter.wait.address, owner->tid))
      wake(WaitKind::kFutex, waiter.wait.key, ~0u);
  }
}

// Clears the ID that the kernel clears when a thread ends (set_tid_address(2)).
void clear_id(const Memory& memory, const Process& target, const Thread& thread) {
  const std::uint64_t address = thread.clear_child_tid;
  const Region* region = address == 0 ? nullptr : memory.region_at(address);
  const std::int32_t none = 0;
  if (region == nullptr || !memory.write(address, &none, sizeof none)) return;
  wake(WaitKind::kFutex, region->shared ? shared_key(*region, address) : private_key(target, address), 1);
}

}  // namespace

void release_robust(const Thread& thread) {
  release_inherited(process(), &thread);
  if (thread.robust_list != 0) walk(Memory(process()), thread);
}

void release_robust_of(const Process& target) {
  RuntimeState& s = state();
  release_inherited(target, nullptr);
  const bool clears = memory_is_shared(target);
  bool any = clears;
  for (const Thread& thread : threads_of(s, target)) any = any || thread.robust_list != 0;
  if (!any) return;
  const Memory memory(target);
  for (const Thread& thread : threads_of(s, target)) {
    walk(memory, thread);
    if (clears) clear_id(memory, target, thread);
  }
}

}  // namespace reweave::core

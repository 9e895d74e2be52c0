#include "recorder/core/explored/fork_server.h"

#include <linux/futex.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/explored/model.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/code_trap.h"
#include "recorder/core/schedule/choice.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/scratch.h"

namespace reweave::core {

namespace {

// Where the server has the runs' arena.
constexpr std::uint64_t kPreparedBase = kArenaBase + 0x8'0000'0000;

bool map_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset) {
  return !is_error(sys(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kRunArenaFd, offset));
}

void signal_word(std::atomic<std::uint32_t>& word) { sys(SYS_futex, &word, FUTEX_WAKE, 1); }

// The server's state as the run's. Its tables are mostly empty: only what is in use is copied.
template <typename Item>
void copy_used(Item* to, const Item* from, std::uint32_t used) {
  memcpy(static_cast<void*>(to), from, used * sizeof(Item));
}

void copy_state(RuntimeState& to) {
  const RuntimeState& from = state();
  const auto live = reinterpret_cast<const std::byte*>(from.live) - reinterpret_cast<const std::byte*>(&from);
  memcpy(static_cast<void*>(&to), &from, static_cast<std::uint64_t>(live));
  copy_used(to.live, from.live, from.live_threads);
  copy_used(to.stand_ins, from.stand_ins, from.stand_in_count);
  copy_used(to.stand_in_sizes, from.stand_in_sizes, from.stand_in_count);
  copy_used(to.seccomp_filters, from.seccomp_filters, from.seccomp_count);
  copy_used(to.seccomp_instructions, from.seccomp_instructions, from.seccomp_used);
  copy_used(to.futex_vectors, from.futex_vectors, from.futex_vectors_used);
  copy_used(to.processes, from.processes, from.process_count);
  copy_used(to.fd_tables, from.fd_tables, from.fd_tables_used);
  copy_used(to.threads, from.threads, from.thread_count);
}

// In the server: the runs' arena is as the server is. The supervisor has written its configuration.
void prepare_run() {
  auto& prepared = *reinterpret_cast<ArenaHeader*>(kPreparedBase);
  auto& last_run = *reinterpret_cast<RuntimeState*>(kPreparedBase + kHeaderBytes);
  patch_trapped_sites(last_run.trapped, last_run.trapped_count);
  copy_state(last_run);
  // The feed stays the server's: runs only read it. Its position is theirs.
  prepared.feed.bytes = arena().feed.bytes;
  prepared.feed.file_offset = arena().feed.file_offset;
  prepared.feed.head.store(arena().feed.head.load());
  prepared.feed.tail.store(arena().feed.tail.load());
}

// In the forked run: its own arena in place of the server's, and a fresh start of everything that is per process and
// that a fork does not keep.
void become_run() {
  if (!map_at(kArenaBase, kRingsOffset, 0) || !map_at(kOutBase, kOutRingBytes, arena().out.file_offset) ||
      !map_at(kOutBase + kOutRingBytes, kOutRingBytes, arena().out.file_offset))
    sys(SYS_exit_group, 97);
  begin_own_stand_ins();
  state().out_limit = kOutRingBytes;
  Thread& me = self();
  sys(SYS_setpgid, 0, 0);
  me.real_tid = static_cast<std::int32_t>(sys(SYS_gettid));
  process().real_pid = me.real_tid;
  prepare_thread(me);
  arena().config.detect_now = config().detect_memory_errors;
  begin_policy();
  arm();
}

// Those that the run's processes have left become our children: the run is over when there are none. One that says so
// itself, or is ended by the supervisor, is ended as a whole.
void wait_for_rest(long group) {
  long ended = 0;
  do {
    ended = sys(SYS_wait4, -group, nullptr, __WALL, nullptr);
  } while (ended > 0 || ended == -EINTR);
}

// One request: fork, wait for the run, tell the supervisor. True in the run.
bool serve_one() {
  RunStatus& status = arena().status;
  prepare_run();
  const long pid = sys(SYS_fork);
  if (pid == 0) {
    become_run();
    return true;
  }
  int wait_status = 0;
  if (!is_error(pid)) {
    status.run_pid.store(static_cast<std::int32_t>(pid));
    while (sys(SYS_wait4, pid, &wait_status, 0, nullptr) == -EINTR) {
    }
    wait_for_rest(pid);
  }
  status.run_pid.store(0);
  status.run_status = is_error(pid) ? 97 << 8 : wait_status;
  status.server_done.fetch_add(1);
  signal_word(status.server_done);
  return false;
}

// At the function where explored runs begin, if that is not main.
CodeTrap site;

// What a run does not need is not copied by its fork, which costs it a microsecond a mapping and a page of page tables:
// scratch memory, as no call blocks in the kernel, and what the kernel put above everything else when it started the
// core.
void forget_what_runs_lack() {
  Thread& me = self();
  forget_scratch(me);
  const RegionTable& table = regions();
  constexpr std::uint64_t kEnd = 0x7fff'ffff'f000;
  if (table.count != 0 && table.items[table.count - 1].end <= kStackTop) sys(SYS_munmap, kStackTop, kEnd - kStackTop);
}

// Explored runs begin here: what is so of all of them, and in a fork server they do.
void fork_point() {
  arena().config.detect_now = config().detect_memory_errors;
  if (config().fork_server == 0 || !replaying()) return;
  arena().config.detect_now = 0;
  prepare_model();
  if (!map_at(kPreparedBase, kRingsOffset, 0)) sys(SYS_exit_group, 97);
  sys(SYS_madvise, kPreparedBase, kRingsOffset, MADV_DONTFORK);
  forget_what_runs_lack();
  sys(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  RunStatus& status = arena().status;
  std::uint32_t served = 0;
  status.server_ready.store(1);
  signal_word(status.server_ready);
  for (;;) {
    while (status.server_request.load() == served) sys(SYS_futex, &status.server_request, FUTEX_WAIT, served, 0);
    served++;
    if (serve_one()) return;
  }
}

void trace_main() {
  constexpr std::uint64_t kBytes = 16;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(kBytes));
  words[0] = wire::pack_word0(EventKind::kCall, kEntersMain, 0, false);
  words[1] = wire::pack_word1(0, self().id);
  publish_out(kBytes);
}

}  // namespace

void at_main() {
  if (tracing()) trace_main();
  const std::uint64_t address = config().fork_at;
  if (address == 0) return fork_point();
  arena().config.fork_at = 0;  // not in another program that this one becomes
  if (!site.plant(address)) diverged("has no code where explored runs are to begin", peek_record());
}

bool on_fork_site(KernelContext& context) {
  if (!site.hit(context.registers.rip)) return false;
  site.remove();
  context.registers.rip--;
  if (process().index != 0) return true;  // a child has the trap, too
  if (config().fork_server != 0 && state().live_threads > 1)
    stop_run(wire::OutcomeKind::kUnsupported,
             "other threads run when that function is first entered; runs can only "
             "begin where there are none yet");
  fork_point();
  return true;
}

}  // namespace reweave::core

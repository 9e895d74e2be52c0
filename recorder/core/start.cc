// The first C++ code of every image: attaches the arena, and becomes the first thread or the one that called exec.
#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/alive_processes.h"
#include "recorder/core/api.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/guard.h"
#include "recorder/core/image/image.h"
#include "recorder/core/log/agree.h"
#include "recorder/core/log/log.h"
#include "recorder/core/processor/machine_trial.h"
#include "recorder/core/schedule/choice.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/tasks/clone.h"

#pragma GCC visibility push(hidden)
extern "C" char core_data_start[];
#pragma GCC visibility pop

namespace reweave::core {

namespace {

[[noreturn]] void refuse_to_start(const char* why) {
  sys(SYS_write, 2, why, string_length(why));
  sys(SYS_exit_group, 99);
  __builtin_unreachable();
}

// Most of the beginning of the core's data is written at once; populating it in one call costs less than faults.
void prepare_data() {
  constexpr std::uint64_t kBytes = 160 << 10;
  sys(SYS_madvise, core_data_start, kBytes, MADV_POPULATE_WRITE);  // if the kernel supports it
}

struct MemoryLimit {  // struct rlimit
  std::uint64_t soft, hard;
};
constexpr MemoryLimit kUnlimited = {~std::uint64_t{0}, ~std::uint64_t{0}};

// The limit of the address space at the start, which would include the core's memory. Lifts it as far as permitted; it
// still applies to the program (syscalls/attributes.cc).
MemoryLimit lift_memory_limit() {
  constexpr int kAddressSpace = 9;  // RLIMIT_AS
  MemoryLimit was = kUnlimited;
  sys(SYS_prlimit64, 0, kAddressSpace, nullptr, &was);
  if (was.soft == kUnlimited.soft || !is_error(sys(SYS_prlimit64, 0, kAddressSpace, &kUnlimited, nullptr))) return was;
  const MemoryLimit most = {was.hard, was.hard};
  sys(SYS_prlimit64, 0, kAddressSpace, &most, nullptr);
  return was;
}

void map_shared(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, int fd = kArenaFd) {
  const long result = sys(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset);
  if (result == -ENOMEM)
    refuse_to_start("reweave: the address-space limit leaves no room for Reweave's memory; raise it with ulimit -v\n");
  if (is_error(result))
    refuse_to_start("reweave-core: cannot map the arena; start programs with `reweave`, not with this file\n");
}

void map_heap_shadow() {
  // MAP_GROWSDOWN counts as stack, not as data (scratch.cc).
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_GROWSDOWN;
  const long result = sys(SYS_mmap, kShadowBase, kShadowEnd - kShadowBase, PROT_READ | PROT_WRITE, kHow, -1, 0);
  if (is_error(result))
    stop_run(wire::OutcomeKind::kUnsupported,
             "the address-space limit is too low for heap checking, which reserves 8 TiB; raise it with ulimit -v");
}

void map_mirrored(std::uint64_t address, const Channel& channel, int fd = kArenaFd) {
  map_shared(address, channel.bytes, channel.file_offset, fd);
  map_shared(address + channel.bytes, channel.bytes, channel.file_offset, fd);
}

// `of_run`: for an explored run, whose feed is its fork server's.
void attach_arena(bool of_run) {
  const int fd = of_run ? kRunArenaFd : kArenaFd;
  map_shared(kArenaBase, kRingsOffset, 0, fd);
  if (arena().magic != kArenaMagic || arena().version != wire::kVersion)
    refuse_to_start("reweave-core: the arena has another version; reinstall reweave\n");
  const bool has_file = arena().config.ring_in_file != 0;
  if (has_file) map_shared(kArenaBase + offsetof(ArenaHeader, out), kRingPage, 0, kRingFd);
  map_mirrored(kOutBase, arena().out, has_file ? kRingFd : fd);
  map_mirrored(kFeedBase, arena().feed);
}

std::uint64_t inherited_ignored() {
  std::uint64_t ignored = 0;
  for (int number = 1; number <= kSignalCount; number++) {
    SignalAction action = {};
    if (!is_error(sys(SYS_rt_sigaction, number, nullptr, &action, 8)) && action.handler == 1)
      ignored |= signal_bit(number);
  }
  return ignored;
}

void log_first_process(Thread& me) {
  agree<wire::SpawnRecord>(
      wire::RecordKind::kSpawn, "started",
      [&me](wire::SpawnRecord& record) {
        record.child = me.id;
        record.kind = static_cast<std::uint32_t>(wire::SpawnKind::kFirst);
        record.tid = me.tid;
      },
      [&me](const wire::SpawnRecord& record) -> const char* {
        trace_spawn(record);
        me.tid = me.outer_tid = record.tid;
        return nullptr;
      });
}

// Until here the kernel kills this process if the supervisor dies. That would not apply to processes that the program
// creates, so from here on the guard does it.
void await_guard() {
  std::atomic<std::uint32_t>& guarded = arena().status.guarded;
  while (guarded.load() == 0) sys(SYS_futex, &guarded, FUTEX_WAIT, 0, 0);
}

Thread& first_thread() {
  RuntimeState& s = state();
  s.process_count = 1;
  mark_alive(s, 0);
  Process& first = s.processes[0];
  // The supervisor watches only processes whose ID it knows.
  first.real_pid = static_cast<std::int32_t>(sys(SYS_getpid));
  Thread& thread = add_thread(0);
  thread.state.store(ThreadState::kRunning);
  thread.tid = thread.outer_tid = first.real_pid;
  s.holder.store(thread.id + 1u);
  return thread;
}

}  // namespace

extern "C" [[noreturn]] void core_start(std::uint64_t* stack) {
  const auto argc = static_cast<long>(stack[0]);
  auto** argv = reinterpret_cast<char**>(stack + 1);
  char** envp = argv + argc + 1;
  if (is_guard(argc, argv[0])) keep_watch(argv);
  std::uint64_t* end = reinterpret_cast<std::uint64_t*>(envp);
  while (*end != 0) end++;
  const MemoryLimit limit = lift_memory_limit();
  prepare_data();
  const bool of_run = string_equal(argv[0], kRunName);
  attach_arena(of_run);
  if (of_run) attach_model();
  if (argc < 3) refuse_to_start("reweave-core: started without a program\n");
  const bool first = state().thread_count == 0;
  Thread& me = first ? first_thread() : thread_of(static_cast<ThreadId>(state().holder.load() - 1));
  set_gs(me);
  note_real_ids(me);
  map_core_stack(me);
  if (config().detect_memory_errors != 0) map_heap_shadow();
  prepare_thread(me);
  publish_api();
  const char* path = argv[1];
  if (first) {
    if (replaying()) sys(SYS_close, kContentsFd);  // the supervisor has put the arena there too
    log_first_process(me);
    path = agree_on_program(path, "started");
    process().pid = process().outer_pid = me.tid;
    if (!replaying()) process().memory_limit = limit.soft + 1, process().memory_hard_limit = limit.hard + 1;
    try_machine();
    mark_standard_streams();
    begin_policy();
  }
  process().code_removals++;
  if (live()) {
    // The kernel's action for signals that the core handles says nothing about the program's.
    const std::uint64_t ours = process().catches_all.load() != 0 ? ~std::uint64_t{0} : always_handled();
    const std::uint64_t before = first ? 0 : process().ignored_signals & ours;
    process().ignored_signals = inherited_ignored() | before;
    // Nor is the kernel's mask the program's: it never blocks the signals that the core needs (kNeverBlocked).
    if (first) sys(SYS_rt_sigprocmask, 0, nullptr, &me.signal_mask, 8);
  }
  if (first) await_guard();
  const long own = first ? 2 : 3;  // arguments for the core: exec also passes the name that it was given
  start_program({path, first ? path : argv[2], argc - own, argv + own, envp, end + 1, first});
}

}  // namespace reweave::core

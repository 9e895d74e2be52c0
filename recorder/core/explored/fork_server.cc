#include "recorder/core/explored/fork_server.h"

#include <linux/futex.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/beginning.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/code/sleds.h"
#include "recorder/core/explored/model.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/code_trap.h"
#include "recorder/core/schedule/choice.h"
#include "recorder/core/schedule/departure.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/state_copy.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/tasks/checkpoint.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

// The address at which the server maps the runs' arena.
constexpr std::uint64_t kPreparedBase = kArenaBase + 0x8'0000'0000;

bool map_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset) {
  return !is_error(sys(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kRunArenaFd, offset));
}

void signal_word(std::atomic<std::uint32_t>& word) { sys(SYS_futex, &word, FUTEX_WAKE, 1); }

// Clears the threads of the previous run, which policies would take for threads that have ended.
void forget_threads(RuntimeState& run, std::uint32_t from) {
  for (std::uint32_t i = from; i < run.thread_count; i++)
    memset(static_cast<void*>(&run.threads[i]), 0, sizeof(Thread));
}

// In the server: copies the server's state to the runs' arena. The supervisor has written its configuration.
void prepare_run() {
  auto& prepared = *reinterpret_cast<ArenaHeader*>(kPreparedBase);
  auto& last_run = *reinterpret_cast<RuntimeState*>(kPreparedBase + kHeaderBytes);
  patch_trapped_sites(last_run.trapped, last_run.trapped_count);
  quiet_sleds(reinterpret_cast<const std::uint8_t*>(kPreparedBase + kQuietOffset));
  forget_threads(last_run, state().thread_count);
  copy_state(last_run);
  // The feed stays the server's, because runs only read it. Each has its own position.
  prepared.feed.bytes = arena().feed.bytes;
  prepared.feed.file_offset = arena().feed.file_offset;
  prepared.feed.head.store(arena().feed.head.load());
  prepared.feed.tail.store(arena().feed.tail.load());
}

// Returns the end, in modelled time, of a wait that began in the replay.
std::int64_t deadline_of(const WaitLimit& limit) {
  if (!limit.some) return kNoDeadline;
  return limit.clock == WaitLimit::kFromNow ? modelled_end(limit.time) : modelled_deadline(limit.clock, limit.time);
}

// Lets the other threads continue as the policy decides. The model answers the calls that were in the kernel, and waits
// end as in any explored run.
void let_others_depart() {
  for (Thread& thread : live_threads(state())) {
    if (thread.id == self().id) continue;
    departure_of(thread).departed = true;
    ThreadState in_kernel = ThreadState::kInKernel;
    thread.state.compare_exchange_strong(in_kernel, ThreadState::kReady);
    thread.wait.deadline = deadline_of(departure_of(thread).limit);
  }
}

// Sets up a forked run: maps the run's own arena in place of the server's, and sets up again everything that belongs to
// one process and that a fork does not keep.
void become_run() {
  if (!map_at(kArenaBase, kRingsOffset, 0) || !map_at(kOutBase, kOutRingBytes, arena().out.file_offset) ||
      !map_at(kOutBase + kOutRingBytes, kOutRingBytes, arena().out.file_offset))
    sys(SYS_exit_group, 97);
  begin_own_stand_ins();
  let_others_depart();
  state().out_limit = kOutRingBytes;
  Thread& me = self();
  sys(SYS_setpgid, 0, 0);
  me.real_tid = static_cast<std::int32_t>(sys(SYS_gettid));
  process().real_pid = me.real_tid;
  prepare_thread(me);
  make_threads_of_copy();
  begin_policy();
  arm();
}

// Processes that outlive the run's first one become the server's children: the run is over when there are none left. A
// run that ends itself, or is ended by the supervisor, ends as a whole.
void wait_for_rest(long group) {
  long ended = 0;
  do {
    ended = sys(SYS_wait4, -group, nullptr, __WALL, nullptr);
  } while (ended > 0 || ended == -EINTR);
}

// Serves one request: forks a run, waits for its end, and tells the supervisor. Returns true in the run.
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

// The trap at the function where explored runs begin, if they begin at a function.
CodeTrap site;

// Unmaps what a run does not need, so that its fork does not copy it (each mapping costs a microsecond and a page of
// page tables): scratch memory, because no call blocks in the kernel, and what the kernel mapped above everything else
// when it started the core.
void forget_what_runs_lack() {
  Thread& me = self();
  forget_scratch(me);
  const RegionTable& table = regions();
  constexpr std::uint64_t kEnd = 0x7fff'ffff'f000;
  if (table.count != 0 && table.items[table.count - 1].end <= kStackTop) sys(SYS_munmap, kStackTop, kEnd - kStackTop);
}

[[noreturn]] void refuse_to_begin(const char* why) {
  Text text;
  text << "explored runs cannot begin there because " << why << "; begin the runs elsewhere, or at main";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

// True if the recording's next event preempts a computing thread. The breakpoint that finds that instant is then
// already set in the program's code.
bool preemption_is_due() {
  const wire::RecordHeader* record = peek_record();
  return record != nullptr && record->kind == static_cast<std::uint16_t>(wire::RecordKind::kPreempt);
}

// Never returns in the server; returns in each run.
void serve_runs() {
  if (preemption_is_due()) refuse_to_begin("the recording interrupts a computation there");
  if (const char* why = prepare_checkpoint(CopyGoesOn::kExplored); why != nullptr) refuse_to_begin(why);
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

// Called where explored runs begin. Prepares their state; in a fork server, forks them.
void fork_point() {
  arena().config.detect_now = config().detect_memory_errors;
  arm_sleds();
  if (config().fork_server != 0 && replaying()) serve_runs();
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
  if (config().fork_at != 0) arm_sleds();
  const std::uint64_t address = config().fork_at;
  if (address == 0) return fork_point();
  if (is_at_point(address)) return;
  arena().config.fork_at = 0;  // not in another program that this one becomes
  if (!site.plant(address)) diverged("has no code at the place where explored runs begin", peek_record());
}

bool on_fork_site(KernelContext& context) {
  if (!site.hit(context.registers.rip)) return false;
  site.remove();
  context.registers.rip--;
  if (process().index != 0) return true;  // a child has the trap, too
  fork_point();
  return true;
}

void begin_at_point() {
  if (state().step != next_beginning())
    stop_run(wire::OutcomeKind::kUnsupported,
             "the recording has no schedule point with the number at which runs begin");
  arena().config.fork_at = 0;
  fork_point();
}

}  // namespace reweave::core

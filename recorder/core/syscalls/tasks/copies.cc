#include "recorder/core/syscalls/tasks/copies.h"

#include <linux/prctl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/checkpoint_calls.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/state_copy.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/tasks/checkpoint.h"

namespace reweave::core {

namespace {

// The address at which an arena is made before it replaces the former one.
constexpr std::uint64_t kNextArena = kArenaBase + 0x8'0000'0000;
constexpr long kWaitForAny = 0x40000000;  // __WALL: also for children that send no signal

struct Passed {
  int fds[kCopyDescriptors];
  int count;
};

// Takes a message with the descriptors passed with it. False if there will be no more.
template <typename Message>
bool receive(int socket, Message& message, Passed& passed) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed.fds)] = {};
  iovec part = {&message, sizeof message};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  long got = 0;
  do {
    got = sys(SYS_recvmsg, socket, &header, MSG_CMSG_CLOEXEC);
  } while (got == -EINTR);
  passed.count = 0;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    passed.count = static_cast<int>((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(passed.fds, CMSG_DATA(rights), static_cast<std::size_t>(passed.count) * sizeof(int));
  }
  return got == static_cast<long>(sizeof message);
}

template <typename Message>
void send(int socket, const Message& message) {
  sys(SYS_sendto, socket, &message, sizeof message, MSG_NOSIGNAL, nullptr, 0);
}

void close_all(const Passed& passed) {
  for (int i = 0; i < passed.count; i++) sys(SYS_close, passed.fds[i]);
}

// Returns the reason why a fork would not copy all memory; null if it would.
const char* obstacle_in_memory() {
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if (region.not_inherited) return "part of its memory is left out of forks (MADV_DONTFORK)";
    if (region.shared && !region.read_only) return "part of its memory is shared";
  }
  return forks_differ() ? "part of its memory is empty after forks (MADV_WIPEONFORK)" : nullptr;
}

const char* obstacle_to_copies() {
  const RuntimeState& s = state();
  if (s.alive_count != 1) return "several processes live";
  if (s.stand_in_count != 0) return "it maps files that may change";
  if (process().pid_namespace != 0) return "it is in its own PID namespace";
  if (const char* why = obstacle_in_memory(); why != nullptr) return why;
  return prepare_checkpoint(CopyGoesOn::kReplaying);
}

// Replaces the arena with the one at kNextArena.
void enter_next_arena() {
  const long moved = sys(SYS_mremap, kNextArena, kRingsOffset, kRingsOffset, MREMAP_MAYMOVE | MREMAP_FIXED, kArenaBase);
  if (is_error(moved)) sys(SYS_exit_group, 97);
}

ArenaHeader& next_header() { return *reinterpret_cast<ArenaHeader*>(kNextArena); }
RuntimeState& next_state() { return *reinterpret_cast<RuntimeState*>(kNextArena + kHeaderBytes); }

// In a checkpoint: replaces the arena by a private copy without rings.
void leave_arena() {
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  const std::uint64_t feed = arena().feed.bytes;
  if (is_error(sys(SYS_mmap, kNextArena, kRingsOffset, PROT_READ | PROT_WRITE, kHow, -1, 0))) sys(SYS_exit_group, 97);
  memcpy(static_cast<void*>(&next_header()), &arena(), sizeof(ArenaHeader));
  copy_state(next_state());
  enter_next_arena();
  sys(SYS_munmap, kOutBase, 2 * kOutRingBytes);
  sys(SYS_munmap, kFeedBase, 2 * feed);
}

// Keeps the parts of `to` that the supervisor of a copy decides, and takes the rest from the original's configuration.
void take_configuration(RunConfig& to, const RunConfig& from) {
  const RunConfig asked = to;
  to = from;
  to.stop_event = asked.stop_event;
  to.makes_checkpoints = asked.makes_checkpoints;
  to.memory_checksums = asked.memory_checksums;
  to.cpu = asked.cpu;
}

bool map_ring(std::uint64_t address, const Channel& ring) {
  constexpr int kHow = MAP_SHARED | MAP_FIXED;
  for (int copy = 0; copy < 2; copy++, address += ring.bytes)
    if (is_error(sys(SYS_mmap, address, ring.bytes, PROT_READ | PROT_WRITE, kHow, kArenaFd, ring.file_offset)))
      return false;
  return true;
}

// In a copy: enters its own arena, with the state of the checkpoint. False if that cannot be mapped.
bool enter_own_arena() {
  constexpr int kHow = MAP_SHARED | MAP_FIXED;
  if (is_error(sys(SYS_mmap, kNextArena, kRingsOffset, PROT_READ | PROT_WRITE, kHow, kArenaFd, 0))) return false;
  ArenaHeader& header = next_header();
  take_configuration(header.config, config());
  header.status.event.store(arena().status.event.load());
  header.status.first_killed.store(arena().status.first_killed.load());
  RuntimeState& s = next_state();
  copy_state(s);
  s.feed_known = 0;
  s.out_limit = kOutRingBytes;
  s.out_skipped.store(0);
  enter_next_arena();
  return map_ring(kOutBase, arena().out) && map_ring(kFeedBase, arena().feed);
}

void share_processor(std::uint32_t cpu) {
  std::uint64_t set[16] = {};
  if (cpu >= 64 * 16) return;
  set[cpu / 64] = std::uint64_t{1} << cpu % 64;
  sys(SYS_sched_setaffinity, 0, sizeof set, set);
}

// Called in a copy, which then continues where the original held.
void become_copy(const Passed& passed, std::uint64_t signal_mask) {
  sys(SYS_dup3, passed.fds[kCopyArena], kArenaFd, 0);
  sys(SYS_dup3, passed.fds[kCopyArena], kCopiesFd, 0);
  sys(SYS_dup3, passed.fds[kCopyCheckpoints], kCheckpointFd, 0);
  sys(SYS_dup3, passed.fds[kCopyOutput], 1, 0);
  sys(SYS_dup3, passed.fds[kCopyErrors], 2, 0);
  close_all(passed);
  if (!enter_own_arena()) sys(SYS_exit_group, 97);
  share_processor(config().cpu);
  Thread& me = self();
  me.real_tid = static_cast<std::int32_t>(sys(SYS_gettid));
  process().real_pid = me.real_tid;
  prepare_thread(me);
  make_threads_of_copy();
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &signal_mask, nullptr, 8);
}

// Forks a child that sends no signal when it ends.
long fork_quietly() { return sys(SYS_clone, 0, 0, 0, 0, 0); }

// Carries out one request. True in a copy.
bool serve_copy(const CopyRequest& request, const Passed& passed, std::uint64_t signal_mask) {
  CopyAnswer answer = {-EINVAL};
  if (request.call == CopyCall::kStart && passed.count == kCopyDescriptors) {
    answer.value = static_cast<std::int32_t>(fork_quietly());
    if (answer.value == 0) {
      become_copy(passed, signal_mask);
      return true;
    }
  } else if (request.call == CopyCall::kAwait && passed.count > kCopyAnswers) {
    const long ended = sys(SYS_wait4, request.pid, &answer.value, kWaitForAny | WNOHANG, nullptr);
    if (ended <= 0) answer.value = ended == 0 ? -EAGAIN : static_cast<std::int32_t>(ended);
  }
  if (passed.count > kCopyAnswers) send(passed.fds[kCopyAnswers], answer);
  close_all(passed);
  return false;
}

// Called in the fork, which becomes the checkpoint. Returns only in the checkpoint's copies.
void serve_copies(int requests) {
  std::uint64_t mask = 0;
  const std::uint64_t all = ~std::uint64_t{0};
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, 8);
  leave_arena();
  sys(SYS_dup3, requests, kCopiesFd, 0);
  sys(SYS_dup3, requests, kArenaFd, 0);  // closes the arena, by which the target's processes are found (guard.h)
  sys(SYS_close, requests);
  send(kCheckpointFd, CheckpointAnswer{static_cast<std::int32_t>(sys(SYS_getpid)), {}});
  sys(SYS_dup3, kCopiesFd, kCheckpointFd, 0);
  CopyRequest request = {};
  Passed passed = {};
  while (receive(kCopiesFd, request, passed))
    if (serve_copy(request, passed, mask)) return;
  sys(SYS_exit_group, 0);
}

}  // namespace

bool make_checkpoint() {
  CheckpointRequest request = {};
  CheckpointAnswer answer = {};
  Passed passed = {};
  if (!receive(kCheckpointFd, request, passed) || passed.count != 1) return false;
  const char* why = obstacle_to_copies();
  if (why == nullptr) {
    const long pid = fork_quietly();
    if (pid == 0) {
      serve_copies(passed.fds[0]);
      return true;
    }
    if (is_error(pid)) why = "the system allows no more processes";
  }
  close_all(passed);
  if (why == nullptr) return false;
  copy_string(answer.why, sizeof answer.why, why);
  send(kCheckpointFd, answer);
  return false;
}

}  // namespace reweave::core

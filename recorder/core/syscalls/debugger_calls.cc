#include "recorder/core/syscalls/debugger_calls.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/context.h"
#include "recorder/core/base/debugger_call.h"
#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

// The ways to answer a system call.
enum class Answer : std::uint8_t {
  kMade,      // it only reads state
  kOnStream,  // made if it concerns a standard stream
  kNothing,   // success without doing anything
  kNoMemory,  // the C library then maps new memory instead
  kEnds,      // the function would end the program or another one
  kOwn,       // the row's function `own` answers
};

bool is_stream(long fd) { return fd >= 0 && fd <= 2; }

void put(long fd, const char* text) { sys(SYS_write, fd, text, string_length(text)); }

long make(const KernelRegisters& r) {
  return raw_syscall(static_cast<int>(r.rax), static_cast<long>(r.rdi), static_cast<long>(r.rsi),
                     static_cast<long>(r.rdx), static_cast<long>(r.r10), static_cast<long>(r.r8),
                     static_cast<long>(r.r9));
}

long write_marked(const KernelRegisters& r) {
  const auto fd = static_cast<int>(r.rdi);
  if (fd != 1 && fd != 2) return -EPERM;
  put(fd, "[called by gdb] ");
  return make(r);
}

// Maps new anonymous memory. The caller must leave its address open.
long map(const KernelRegisters& r) {
  static std::uint64_t used;
  constexpr std::uint64_t kNeeded = MAP_PRIVATE | MAP_ANONYMOUS;
  const std::uint64_t bytes = (r.rsi + 4095) & ~std::uint64_t{4095};
  if ((r.r10 & (kNeeded | MAP_FIXED)) != kNeeded || bytes == 0 || bytes > kDebuggerMemoryBytes - used) return -ENOMEM;
  const std::uint64_t address = kDebuggerMemory + used;
  const long result = sys(SYS_mmap, address, bytes, r.rdx, r.r10 | MAP_FIXED, -1, 0);
  if (!is_error(result)) used += bytes;
  return result;
}

long unmap(const KernelRegisters& r) {
  const bool given_here = r.rdi >= kDebuggerMemory && r.rdi < kDebuggerMemory + kDebuggerMemoryBytes;
  return given_here ? make(r) : 0;  // the program's memory stays mapped
}

// There is no other thread to wait for, and waiting threads cannot be woken.
long futex(const KernelRegisters& r) {
  constexpr std::uint64_t kOperation = 127, kWait = 0, kWaitBitset = 9;
  const std::uint64_t operation = r.rsi & kOperation;
  if (operation != kWait && operation != kWaitBitset) return 0;
  if (*reinterpret_cast<const std::uint32_t*>(r.rdi) != static_cast<std::uint32_t>(r.rdx)) return -EAGAIN;
  if (r.r10 != 0) return -ETIMEDOUT;
  give_up_debugger_call("it waits for another thread, and no other thread runs during the call");
}

long end_of_heap(const KernelRegisters&) { return static_cast<long>(program_break().end); }
long own_pid(const KernelRegisters&) { return process().pid; }
long own_tid(const KernelRegisters&) { return self().tid; }

struct Row {
  int number;
  Answer answer;
  long (*own)(const KernelRegisters&) = nullptr;
};

constexpr Row kRows[] = {
    {SYS_write, Answer::kOwn, write_marked},
    {SYS_writev, Answer::kOwn, write_marked},
    {SYS_mmap, Answer::kOwn, map},
    {SYS_munmap, Answer::kOwn, unmap},
    {SYS_brk, Answer::kOwn, end_of_heap},
    {SYS_futex, Answer::kOwn, futex},
    {SYS_getpid, Answer::kOwn, own_pid},
    {SYS_gettid, Answer::kOwn, own_tid},
    {SYS_clock_gettime, Answer::kMade},
    {SYS_gettimeofday, Answer::kMade},
    {SYS_time, Answer::kMade},
    {SYS_clock_getres, Answer::kMade},
    {SYS_getrandom, Answer::kMade},
    {SYS_uname, Answer::kMade},
    {SYS_getuid, Answer::kMade},
    {SYS_geteuid, Answer::kMade},
    {SYS_getgid, Answer::kMade},
    {SYS_getegid, Answer::kMade},
    {SYS_getrusage, Answer::kMade},
    {SYS_sysinfo, Answer::kMade},
    {SYS_getcwd, Answer::kMade},
    {SYS_readlink, Answer::kMade},
    {SYS_access, Answer::kMade},
    {SYS_stat, Answer::kMade},
    {SYS_lstat, Answer::kMade},
    {SYS_fstat, Answer::kOnStream},
    {SYS_ioctl, Answer::kOnStream},
    {SYS_newfstatat, Answer::kOnStream},
    {SYS_lseek, Answer::kOnStream},
    {SYS_sched_yield, Answer::kNothing},
    {SYS_rt_sigprocmask, Answer::kNothing},
    {SYS_madvise, Answer::kNothing},
    {SYS_fsync, Answer::kNothing},
    {SYS_nanosleep, Answer::kNothing},
    {SYS_clock_nanosleep, Answer::kNothing},
    {SYS_mprotect, Answer::kNoMemory},
    {SYS_mremap, Answer::kNoMemory},
    {SYS_exit, Answer::kEnds},
    {SYS_exit_group, Answer::kEnds},
    {SYS_kill, Answer::kEnds},
    {SYS_tgkill, Answer::kEnds},
    {SYS_tkill, Answer::kEnds},
};

}  // namespace

long call_for_debugger(const KernelRegisters& r) {
  const auto number = static_cast<int>(r.rax);
  for (const Row& row : kRows) {
    if (row.number != number) continue;
    if (row.answer == Answer::kOwn) return row.own(r);
    if (row.answer == Answer::kEnds) give_up_debugger_call("it ends the program, or sends a signal");
    if (row.answer == Answer::kNothing) return 0;
    if (row.answer == Answer::kNoMemory) return -ENOMEM;
    if (row.answer == Answer::kMade || is_stream(static_cast<int>(r.rdi))) return make(r);
  }
  return -EPERM;
}

}  // namespace reweave::core

// TracedProcess's breakpoints, watched memory and registers, and its children.
#include <asm/prctl.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "formats/base/error.h"
#include "replayer/live/strays.h"
#include "replayer/live/traced_process.h"

namespace reweave {

namespace {

constexpr int kNotAllowed = 2;                 // si_code of SIGSEGV: mapped, but this access is not allowed
constexpr std::size_t kMostVector = 16 << 10;  // bytes of saved vector state

std::uint64_t page_of(std::uint64_t address) { return address & ~(kPageBytes - 1); }

// The protection (PROT_*) of the memory at `address`; -1 if nothing is mapped there.
int protection_at(pid_t pid, std::uint64_t address) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t start = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, rights) != 3 || address < start || address >= end)
      continue;
    return (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
           (rights[2] == 'x' ? PROT_EXEC : 0);
  }
  return -1;
}

pid_t process_of(pid_t lwp) {
  std::ifstream status(fmt::format("/proc/{}/status", lwp));
  for (std::string line; std::getline(status, line);)
    if (line.rfind("Tgid:", 0) == 0) return std::stoi(line.substr(5));
  return 0;
}

}  // namespace

// Code of the program that the runtime moved into stubs counts as the program's.
bool TracedProcess::in_runtime(std::uint64_t address) const { return is_core_code(address); }

user_regs_struct TracedProcess::registers(pid_t lwp) const {
  user_regs_struct values = {};
  ptrace(PTRACE_GETREGS, lwp, 0, &values);
  return values;
}

void TracedProcess::set_registers(pid_t lwp, const user_regs_struct& values) {
  ptrace(PTRACE_SETREGS, lwp, 0, &values);
}

std::vector<std::byte> TracedProcess::vector_state(pid_t lwp) const {
  std::vector<std::byte> state(kMostVector);
  iovec area = {state.data(), state.size()};
  if (ptrace(PTRACE_GETREGSET, lwp, NT_X86_XSTATE, &area) != 0) area.iov_len = 0;
  state.resize(area.iov_len);
  return state;
}

void TracedProcess::set_vector_state(pid_t lwp, std::span<const std::byte> state) {
  const iovec area = {const_cast<std::byte*>(state.data()), state.size()};
  ptrace(PTRACE_SETREGSET, lwp, NT_X86_XSTATE, &area);
}

std::vector<std::byte> TracedProcess::signal_info(pid_t lwp) const {
  std::vector<std::byte> info(sizeof(siginfo_t));
  if (ptrace(PTRACE_GETSIGINFO, lwp, 0, info.data()) != 0) info.clear();
  return info;
}

bool TracedProcess::read(std::uint64_t address, void* to, std::size_t bytes) const {
  if (!read_memory(pid_, address, to, bytes)) return false;
  for (auto it = inserted_.lower_bound(address); it != inserted_.end() && it->first < address + bytes; ++it)
    static_cast<std::uint8_t*>(to)[it->first - address] = it->second;
  return true;
}

bool TracedProcess::write(std::uint64_t address, const void* from, std::size_t bytes) {
  const auto* data = static_cast<const std::uint8_t*>(from);
  if (!write_memory(pid_, address, data, bytes)) return false;
  for (auto it = inserted_.lower_bound(address); it != inserted_.end() && it->first < address + bytes; ++it) {
    it->second = data[it->first - address];
    write_memory(pid_, it->first, &kInt3, 1);
  }
  return true;
}

void TracedProcess::update_breakpoints() {
  std::set<std::uint64_t> wanted = breakpoints;
  if (stops_at_hold) wanted.insert(hold_at_);
  if (lands_ || stepping_ != 0 || changed_in_runtime_ != 0) wanted.insert(exits_.begin(), exits_.end());
  if (in_vfork_) wanted = {vforked_at_};  // the child does not execute this address
  for (auto it = inserted_.begin(); it != inserted_.end();) {
    if (wanted.count(it->first) != 0) {
      ++it;
      continue;
    }
    write_memory(pid_, it->first, &it->second, 1);
    it = inserted_.erase(it);
  }
  for (const std::uint64_t address : wanted) {
    std::uint8_t byte = 0;
    if (inserted_.count(address) != 0) continue;
    make_slow(address);
    if (!read_memory(pid_, address, &byte, 1)) continue;
    if (write_memory(pid_, address, &kInt3, 1)) inserted_[address] = byte;
  }
}

std::uint64_t TracedProcess::call(pid_t lwp, long number, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const user_regs_struct before = registers(lwp);
  user_regs_struct values = before;
  values.rip = syscall_at_;
  values.rax = static_cast<std::uint64_t>(number);
  values.orig_rax = ~0ull;
  values.rdi = a;
  values.rsi = b;
  values.rdx = c;
  set_registers(lwp, values);
  ptrace(PTRACE_SINGLESTEP, lwp, 0, 0);
  int status = 0;
  while (waitpid(lwp, &status, __WALL) < 0 && errno == EINTR) {
  }
  const std::uint64_t result = registers(lwp).rax;
  set_registers(lwp, before);
  return result;
}

void TracedProcess::protect_watched(pid_t lwp, bool on) {
  for (const auto& [page, before] : protected_)
    call(lwp, SYS_mprotect, page, kPageBytes, static_cast<std::uint64_t>(on ? before & ~PROT_WRITE : before));
}

void TracedProcess::update_watches() {
  std::set<std::uint64_t> pages;
  for (const Watch& watch : watches)
    for (std::uint64_t page = page_of(watch.address); page < watch.address + watch.bytes; page += kPageBytes)
      pages.insert(page);
  const auto stopped =
      std::find_if(lwps_.begin(), lwps_.end(), [](const auto& entry) { return !entry.second.running; });
  if (stopped == lwps_.end()) return;
  const pid_t lwp = stopped->first;
  for (auto it = protected_.begin(); it != protected_.end();) {
    if (pages.count(it->first) != 0) {
      ++it;
      continue;
    }
    call(lwp, SYS_mprotect, it->first, kPageBytes, static_cast<std::uint64_t>(it->second));
    it = protected_.erase(it);
  }
  for (const std::uint64_t page : pages) {
    const int before = protected_.count(page) != 0 ? -1 : protection_at(pid_, page);
    if (before < 0 || (before & PROT_WRITE) == 0) continue;
    protected_[page] = before;
    call(lwp, SYS_mprotect, page, kPageBytes, static_cast<std::uint64_t>(before & ~PROT_WRITE));
  }
  seen_.clear();
  for (const Watch& watch : watches) note_value(watch);
}

void TracedProcess::unwatch() {
  watches.clear();
  stop_at_fault = 0;
  if (!ended_) update_watches();
}

void TracedProcess::note_value(const Watch& watch) {
  std::vector<std::byte>& value = seen_[watch];
  value.resize(watch.bytes);
  if (!read_memory(pid_, watch.address, value.data(), watch.bytes)) value.clear();
}

bool TracedProcess::is_watched_fault(pid_t lwp) const {
  siginfo_t info = {};
  if (protected_.empty() || ptrace(PTRACE_GETSIGINFO, lwp, 0, &info) != 0 || info.si_code != kNotAllowed) return false;
  return protected_.count(page_of(reinterpret_cast<std::uint64_t>(info.si_addr))) != 0;
}

std::optional<Stop> TracedProcess::pass_watched_fault(pid_t lwp) {
  lwps_.at(lwp).signal = 0;
  const std::uint64_t at = registers(lwp).rip;
  protect_watched(lwp, false);
  const int status = step_alone(lwp);
  if (!WIFSTOPPED(status)) {
    gone(lwp, status);
    return ended_ ? end_ : std::nullopt;
  }
  protect_watched(lwp, true);
  if (status >> 8 != SIGTRAP) lwps_.at(lwp).status = status;
  faults++;
  std::optional<std::uint64_t> changed;
  for (auto& [watch, value] : seen_) {
    const std::vector<std::byte> old = value;
    note_value(watch);
    if (old != value && !changed) changed = watch.address;
  }
  if (!changed) return {};
  if (!in_runtime(at)) return Stop{StopReason::kWatched, lwp, 0, *changed};
  changed_in_runtime_ = lwp;  // report the stop when the program continues
  changed_address_ = *changed;
  update_breakpoints();
  return {};
}

// The runtime has executed a program, so the memory is new.
std::optional<Stop> TracedProcess::on_exec(pid_t lwp) {
  for (const pid_t other : lwps())
    if (other != pid_) lwps_.erase(other);
  lwps_[pid_].running = false;
  (void)lwp;
  inserted_.clear();
  quick_.clear();
  protected_.clear();
  seen_.clear();
  update_breakpoints();
  return {};
}

void TracedProcess::end_vfork(pid_t lwp) {
  in_vfork_ = false;
  update_breakpoints();
  protect_watched(lwp, true);
  for (const Watch& watch : watches) note_value(watch);
}

// Notes a new thread, or releases a new process without our breakpoints. If the child shares the memory (vfork), our
// breakpoints stay out of it until the child has its own memory or has ended. The runtime, not the kernel, makes the
// parent wait until then, so the kernel reports no event for it.
std::optional<Stop> TracedProcess::on_fork(pid_t lwp, int) {
  unsigned long message = 0;
  ptrace(PTRACE_GETEVENTMSG, lwp, 0, &message);
  const auto made = static_cast<pid_t>(message);
  if (process_of(made) == pid_) {
    lwps_[made].running = true;
    return {};
  }
  int status = wait_for(made);
  if (!WIFSTOPPED(status)) return {};
  constexpr int kMemory = 1;  // KCMP_VM
  if (syscall(SYS_kcmp, pid_, made, kMemory, 0, 0) == 0) {
    in_vfork_ = true;
    update_breakpoints();
  } else {
    for (const auto& [address, byte] : inserted_) write_memory(made, address, &byte, 1);
  }
  for (const auto& [page, before] : protected_)
    call(made, SYS_mprotect, page, kPageBytes, static_cast<std::uint64_t>(before));
  ptrace(PTRACE_DETACH, made, 0, 0);
  return {};
}

}  // namespace reweave

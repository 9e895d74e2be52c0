// A replayed process under ptrace: its threads, breakpoints and watched memory, and running it until something happens.
//
// Only the thread with the baton executes the program's code; the others wait in the runtime. So a thread that stops at
// a breakpoint can be stepped over it while they go on waiting, and most stops need not stop them.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "replayer/live/core_view.h"

namespace reweave {

inline constexpr std::uint8_t kInt3 = 0xcc;  // the instruction of a breakpoint

// Why the process stopped.
enum class StopReason {
  kBreakpoint,
  kStepped,
  kWatched,       // `address` has another value
  kSignal,        // `signal` is about to reach the thread
  kInterrupted,   // by the caller's poll
  kExited,        // with `signal` as status
  kKilled,        // by `signal`
  kHeld,          // before the event asked for, in the runtime
  kAboutToWrite,  // the write asked for by `stop_at_fault`
};

struct Stop {
  StopReason reason = StopReason::kInterrupted;
  pid_t lwp = 0;
  int signal = 0;
  std::uint64_t address = 0;
  bool late = false;  // of kWatched: it was the runtime that wrote, and the thread is behind the call
};

using CoreSymbols = std::map<std::string, std::uint64_t>;

class TracedProcess {
 public:
  // Takes over a process that holds for a debugger. Throws SystemError if that is not allowed.
  TracedProcess(pid_t pid, const CoreSymbols& core);
  ~TracedProcess();
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  pid_t pid() const { return pid_; }
  const CoreView& core() const { return core_; }
  bool ended() const { return ended_; }

  std::vector<pid_t> lwps() const;
  user_regs_struct registers(pid_t lwp) const;
  void set_registers(pid_t lwp, const user_regs_struct& values);
  // As the processor saves it (NT_X86_XSTATE).
  std::vector<std::byte> vector_state(pid_t lwp) const;
  void set_vector_state(pid_t lwp, std::span<const std::byte> state);
  std::vector<std::byte> signal_info(pid_t lwp) const;
  // As the program has it, without our breakpoints.
  bool read(std::uint64_t address, void* to, std::size_t bytes) const;
  bool write(std::uint64_t address, const void* from, std::size_t bytes);

  // What stops `run`; set while the process is stopped.
  std::set<std::uint64_t> breakpoints;
  struct Watch {
    std::uint64_t address;
    std::size_t bytes;
    auto operator<=>(const Watch&) const = default;
  };
  std::set<Watch> watches;
  std::set<int> passed_signals;  // that reach the program without a stop
  bool stops_at_hold = false;
  // Asked now and then while the process runs: true stops it.
  std::function<bool()> poll;

  bool passes_all_signals = false;
  std::uint64_t stop_at_fault = 0;  // number of the write to watched pages before which to stop; 0: none

  struct Resume {
    pid_t thread = 0;  // that stopped last
    bool step =
        false;  // `thread` by one instruction of the program, and all by none if it needs no other thread for it
    bool alone = false;  // no other thread may run
    int signal = 0;      // for `thread`, which has stopped with it; 0: it is gone
    bool over = true;    // breakpoints that threads have run into are passed; else they strike again
    bool lands = false;  // stop as soon as any thread is in the program
  };
  // Until something happens. With `whole` every thread is stopped then; else those that wait in the runtime go on
  // waiting, and only the next `run` may follow.
  Stop run(const Resume& how, bool whole = true);
  void stop_all();
  // Executes instructions of the stopped thread one by one, and shows each place that it comes to, until `visit`
  // returns false or the next instruction needs run({.step = true}): one of the runtime, or that shows the trap flag,
  // or another event than a step. Breakpoints do not stop it.
  void step_while(pid_t lwp, const std::function<bool(std::uint64_t pc)>& visit);
  // All memory is as the program has it. While every thread is stopped.
  void unwatch();
  // True for addresses of the runtime's code.
  bool in_runtime(std::uint64_t address) const;
  std::uint64_t faults = 0;  // writes to pages of watched memory so far

 private:
  struct Lwp {
    bool running = false;
    bool stop_wanted = false;   // PTRACE_INTERRUPT was sent
    std::optional<int> status;  // of a stop that was not looked at yet
    int signal = 0;             // to be delivered when it goes on
    std::uint64_t over = 0;     // the breakpoint that it has run into
  };

  void seize_all();
  void seize(pid_t lwp);
  // Where the runtime makes a system call.
  void find_syscall();
  // Of the process, which is killed.
  void end();
  static int trap_code(pid_t lwp);
  static bool has_stepped(pid_t lwp, int status);
  void go_on(pid_t lwp, bool step = false);
  void resume(pid_t lwp);
  int wait_for(pid_t lwp);
  std::optional<std::pair<pid_t, int>> next_status();
  std::optional<Stop> wait_for_stop();
  void gone(pid_t lwp, int status);
  bool rewind_breakpoint(pid_t lwp, int status);
  int step_alone(pid_t lwp);
  void hide_trap_flag(pid_t lwp, const user_regs_struct& before);
  void note_exit(pid_t lwp);
  std::optional<Stop> step_once(pid_t lwp);
  std::optional<Stop> step_out(pid_t lwp);
  std::optional<Stop> step_over_in_runtime(pid_t lwp);
  // Of a thread that has stopped with that status. None: nothing that the caller wants to know.
  std::optional<Stop> look(pid_t lwp, int status);
  bool gives_up_call(std::uint64_t address) const;
  std::optional<Stop> look_at_trap(pid_t lwp);
  std::optional<Stop> look_at_signal(pid_t lwp, int signal);
  std::optional<Stop> on_exec(pid_t lwp);
  std::optional<Stop> on_fork(pid_t lwp, int event);

  void update_breakpoints();
  void update_watches();
  void end_vfork(pid_t lwp);
  void note_value(const Watch& watch);
  void protect_watched(pid_t lwp, bool on);
  bool is_watched_fault(pid_t lwp) const;
  std::optional<Stop> pass_watched_fault(pid_t lwp);
  // A system call, made by a stopped thread.
  std::uint64_t call(pid_t lwp, long number, std::uint64_t a, std::uint64_t b, std::uint64_t c);

  pid_t pid_;
  CoreView core_;
  const CoreSymbols& symbols_;
  std::set<std::uint64_t> exits_;
  std::uint64_t hold_at_, vforked_at_, syscall_at_;
  std::map<pid_t, Lwp> lwps_;
  std::map<std::uint64_t, std::uint8_t> inserted_;  // breakpoints in memory, and the bytes in their place
  std::map<std::uint64_t, int> protected_;          // pages made read-only for watches, and what they were
  std::map<Watch, std::vector<std::byte>> seen_;    // values
  bool ended_ = false, lands_ = false, in_vfork_ = false;
  std::optional<Stop> end_;
  pid_t stepping_ = 0;  // asked to make a step, and on its way through the runtime
  pid_t changed_in_runtime_ = 0;
  std::uint64_t changed_address_ = 0;
};

}  // namespace reweave

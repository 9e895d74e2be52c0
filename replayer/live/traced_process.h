// A replayed process under ptrace: its threads, breakpoints and watched memory. Runs it until something happens.
//
// Only the thread with the baton executes the program's code; the others wait in the runtime. So a thread at a
// breakpoint can be stepped over it while the others keep waiting, and most stops need not stop them.
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
  kWatched,       // the value at `address` has changed
  kSignal,        // `signal` is about to reach the thread
  kInterrupted,   // `poll` returned true
  kExited,        // with `signal` as status
  kKilled,        // by `signal`
  kHeld,          // in the runtime, before the requested event
  kAboutToWrite,  // before the write number `stop_at_fault`
};

struct Stop {
  StopReason reason = StopReason::kInterrupted;
  pid_t lwp = 0;
  int signal = 0;
  std::uint64_t address = 0;
  bool late = false;  // for kWatched: the runtime wrote, and the thread has already returned from the call
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
  // The state as the processor saves it (NT_X86_XSTATE).
  std::vector<std::byte> vector_state(pid_t lwp) const;
  void set_vector_state(pid_t lwp, std::span<const std::byte> state);
  std::vector<std::byte> signal_info(pid_t lwp) const;
  // Access memory as the program sees it, without our breakpoints. False if not all of it is there.
  bool read(std::uint64_t address, void* to, std::size_t bytes) const;
  bool write(std::uint64_t address, const void* from, std::size_t bytes);

  // Breakpoints and watched memory that stop `run`. Change them only while the process is stopped.
  std::set<std::uint64_t> breakpoints;
  struct Watch {
    std::uint64_t address;
    std::size_t bytes;
    auto operator<=>(const Watch&) const = default;
  };
  std::set<Watch> watches;
  std::set<int> passed_signals;  // reach the program without a stop
  bool stops_at_hold = false;
  // Called now and then while the process runs; if it returns true, the process stops.
  std::function<bool()> poll;

  bool passes_all_signals = false;
  // While the process runs, loops that the runtime counts (recorder/core/code/counted_loops.h) have their jumps, not
  // traps, which would stop the process in each iteration. After `run` no thread is in such a jump's stub.
  bool quick_loops = false;
  std::uint64_t stop_at_fault = 0;  // stop before the write to watched pages that has this number; 0: never

  struct Resume {
    pid_t thread = 0;    // the thread that stopped last
    bool step = false;   // `thread` executes one instruction of the program; the others run only if it waits for them
    bool alone = false;  // no other thread may run
    int signal = 0;      // to deliver to `thread`; 0: none
    bool over = true;    // pass breakpoints that threads have hit; false: hit them again
    bool lands = false;  // stop as soon as any thread is in the program
  };
  // Runs until something happens. With `whole`, stops every thread then. Otherwise threads in the runtime keep waiting,
  // and only another `run` may follow.
  Stop run(const Resume& how, bool whole = true);
  void stop_all();
  // Executes instructions of the stopped thread one by one, and calls `visit` with each new address. Ends if `visit`
  // returns false, at a breakpoint, on any stop that is not a step, or where the next instruction needs run({.step =
  // true}) because it is the runtime's or shows the trap flag.
  void step_while(pid_t lwp, const std::function<bool(std::uint64_t pc)>& visit);
  // Ends `quick_loops`: puts all traps back. Call this before the user sees the process.
  void show_loops();
  // Removes all watches, so that all memory has the program's protection. Every thread must be stopped.
  void unwatch();
  // True for addresses of the runtime's code.
  bool in_runtime(std::uint64_t address) const;
  std::uint64_t faults = 0;  // writes to pages of watched memory so far

 private:
  struct Lwp {
    bool running = false;
    bool stop_wanted = false;   // PTRACE_INTERRUPT was sent
    std::optional<int> status;  // of a stop that was not examined yet
    int signal = 0;             // to deliver when it continues
    std::uint64_t over = 0;     // the breakpoint that it has hit
  };

  // A loop that has its jump.
  struct QuickLoop {
    std::uint64_t entry = 0;  // of the runtime's table
    std::uint64_t start = 0, covers = 0, stub = 0;
    std::vector<std::uint8_t> original;
    std::map<std::uint64_t, std::uint64_t> moved;  // addresses in the program, by those in the stub
  };
  bool make_quick(std::uint64_t start);
  void put_trap(const QuickLoop& loop);
  void make_slow(std::uint64_t address);
  void put_traps();
  void leave_stub(pid_t lwp);
  const QuickLoop* stub_at(std::uint64_t address) const;

  void seize_all();
  void seize(pid_t lwp);
  // Finds a system call instruction in the runtime.
  void find_syscall();
  // Kills the process and collects its threads.
  void end();
  static int trap_code(pid_t lwp);
  static bool has_stepped(pid_t lwp, int status);
  void step_or_continue(pid_t lwp, bool step = false);
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
  // Examines a thread that has stopped with that status. Nothing if the stop is of no interest to the caller.
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
  // Makes a stopped thread execute a system call.
  std::uint64_t call(pid_t lwp, long number, std::uint64_t a, std::uint64_t b, std::uint64_t c);

  pid_t pid_;
  CoreView core_;
  const CoreSymbols& symbols_;
  std::map<std::uint64_t, QuickLoop> quick_;  // by start
  std::set<std::uint64_t> exits_;
  std::uint64_t hold_at_, vforked_at_, syscall_at_;
  std::map<pid_t, Lwp> lwps_;
  std::map<std::uint64_t, std::uint8_t> inserted_;  // breakpoints in memory, and the bytes that they replace
  std::map<std::uint64_t, int> protected_;          // pages made read-only for watches, and their own protection
  std::map<Watch, std::vector<std::byte>> seen_;    // values last seen
  bool ended_ = false, lands_ = false, in_vfork_ = false;
  std::optional<Stop> end_;
  pid_t stepping_ = 0;  // the thread that steps, while it is in the runtime
  pid_t changed_in_runtime_ = 0;
  std::uint64_t changed_address_ = 0;
};

}  // namespace reweave

// The runtime state in the arena: the baton, the threads and the processes of the target's tree.
//
// Thread rule: only the baton holder reads or writes this state, except for the std::atomic members, which threads
// returning from the kernel and signal handlers access as described at each.
#pragma once

#include <sys/stat.h>

#include "recorder/arena.h"
#include "recorder/fp_layout.h"
#include "recorder/id_set.h"
#include "recorder/seccomp_state.h"
#include "recorder/tracee.h"

namespace reweave {

enum class ThreadState : std::uint32_t {
  kUnused = 0,
  kReady,     // may be given the baton
  kRunning,   // has the baton
  kBlocked,   // waits until `wait` is woken or expires
  kInKernel,  // gave the baton away for a system call that may block
  kExited,
};

// The next operation of a thread; policies see it for every thread.
enum class OpKind : std::uint16_t {
  kStart = 0,
  kAccess,
  kAtomic,
  kLock,
  kUnlock,
  kWait,
  kNotify,
  kSemaphore,
  kBarrier,
  kCreate,
  kJoin,
  kYield,
  kSyscall,
  kExit,
  kOther,
};

struct PendingOp {
  std::uint64_t object;  // address
  std::uint64_t pc;
  OpKind kind;
  std::uint8_t is_write;
  std::uint8_t reserved;
  std::uint32_t detail;  // system call number, bytes, LockMode, SemaphoreUse
};

// `detail` of OpKind::kSemaphore. Policies see the descriptors of explored runs as one semaphore.
enum class SemaphoreUse : std::uint32_t { kWait = 0, kPost, kDescriptors };

enum class WaitKind : std::uint32_t {
  kNone = 0,
  kFutex,
  kMutex,
  kRwlock,
  kSpin,
  kCondition,
  kSemaphore,
  kVfork,
  kSleep,
  kFutexVector,  // futex_waitv: the key is the address of its FutexVector
  kTracer        // stopped for its tracer
};

// True if signals do not end such a wait.
constexpr bool is_uninterruptible(WaitKind kind) { return kind == WaitKind::kVfork || kind == WaitKind::kTracer; }

// The outcome of a wait.
enum class WaitResult : std::uint32_t { kWoken = 0, kTimedOut = 1, kInterrupted = 2 };

struct Wait {
  WaitKind kind;
  WaitResult result;
  std::uint64_t key;       // identity of the object, equal in all processes that share it (core/memory/address_space.h)
  std::uint64_t address;   // the object, as the thread addressed it
  std::uint64_t order;     // arrival number: waiters are woken first in, first out
  std::int64_t deadline;   // CLOCK_MONOTONIC nanoseconds, or kNoDeadline
  std::uint32_t bitset;    // futex bitset
  std::int32_t owner_tid;  // the thread that holds the object, if known; else 0
};
inline constexpr std::int64_t kNoDeadline = INT64_MAX;

// The futexes of one futex_waitv.
inline constexpr std::uint32_t kMaxFutexVectors = 256, kMaxVectorFutexes = 128;
struct FutexVector {
  std::uint32_t count;  // 0: not in use
  std::uint32_t woken;  // index of the futex that was woken
  std::uint64_t keys[kMaxVectorFutexes];
};

// Bits of Thread::go.
inline constexpr std::uint32_t kGoBaton = 1;      // the thread has the baton
inline constexpr std::uint32_t kGoAttention = 2;  // the thread must check its own state again
// Values of Thread::expired and SwitchRecord::timed_out.
inline constexpr std::uint32_t kExpiredMark = 1;
inline constexpr std::uint32_t kInterruptedMark = 2;

inline constexpr std::uint32_t kSignalQueue = 32;
inline constexpr std::uint32_t kHeldSignals = 32;
struct QueuedSignal {
  std::uint32_t number;
  std::uint32_t external;  // 1: from the kernel; 0: from within the tree
  std::uint8_t info[128];
};

inline constexpr std::uint32_t kStubCountdowns = 3;

// A call that came through a stub and finishes through SIGSYS.
struct PatchedCall {
  std::uint64_t after;        // address to which the call returns
  std::uint64_t ip;           // where the thread continues
  std::uint64_t result;       // value of rax there
  long number;                // of the call
  std::uint32_t interrupted;  // it failed with EINTR
};

// Values of Thread::lends. kMayTake: the supervisor may take the baton. kTaking: the supervisor is taking it. kTaken:
// the supervisor has taken it and is done.
inline constexpr std::uint32_t kMayTake = 1, kTaking = 2, kTaken = 3;

// Bit of Process::write_xor_execute: PR_MDWE_NO_INHERIT.
inline constexpr std::uint32_t kMdweNotInherited = 2;

// One thread of the target. The GS base of the kernel thread points here.
struct alignas(64) Thread {
  Thread* self;               // gs:0
  std::int64_t countdown;     // gs:8   schedule points left before the slow path
  std::uint64_t stack_top;    // gs:16  the core's stack; 0 while the thread is on it
  std::uint64_t point_entry;  // gs:24  the core's slow path of a schedule point (core_api.h)
  std::uint64_t deliver_due;  // gs:32  1: a signal waits for delivery; the shim lets the core deliver it
  // Input of the slow path of a schedule point, and the state that it restores.
  std::uint64_t point_object;     // gs:40
  std::uint64_t point_pc;         // gs:48
  std::uint32_t point_operation;  // gs:56  OpKind | is_write << 16
  std::uint32_t point_detail;     // gs:60
  std::uint64_t point_rax;        // gs:64
  std::uint64_t point_return;     // gs:72
  std::uint64_t point_stack;      // gs:80
  std::uint64_t stack_entry;      // gs:88  traced: the function that notes the call stack (core/stacks.h)
  std::uint64_t call_entry;       // gs:96  where stubs of patched system calls jump (core/code/patching.h)

  std::int64_t stub_countdowns[kStubCountdowns];  // gs:104  like countdown, for stubs (core/schedule/countdown.h)
  std::uint64_t shelved;  // saves a register while a stub compares or counts (core/code/stubs.h)

  std::int64_t budget;  // the sum of the countdowns when they were last armed
  std::uint16_t id;
  std::uint16_t process;
  std::atomic<ThreadState> state;
  std::atomic<std::uint32_t> go;       // futex: kGoBaton | kGoAttention
  std::atomic<std::uint32_t> expired;  // why a waiting thread may resume without being woken; set by the waiter itself
  std::int32_t tid;                    // as the target sees it (recorded)
  std::int32_t real_tid;               // in this run, as the supervisor sees it
  PendingOp op;
  Wait wait;
  std::uint64_t ticks;       // schedule points executed by this thread
  std::uint64_t counted_at;  // under a debugger: its next instruction, already counted (counted_loops.h); or 0
  std::uint64_t woken_tick;  // value of `ticks` when it last ended a wait
  std::uint32_t vain_waits;  // how often in a row it was woken and immediately had to wait for the same object
  std::uint64_t clear_child_tid;
  std::uint64_t robust_list;
  std::uint64_t signal_mask;  // as the target sees it
  std::uint64_t saved_mask;   // to be restored after sigsuspend and similar calls
  std::uint32_t has_saved_mask;
  std::uint64_t altstack_base;
  std::uint64_t altstack_size;
  std::uint32_t altstack_flags;
  std::atomic<std::uint32_t> queue_lock;
  // core_blocking_syscall reads these two together.
  alignas(8) std::atomic<std::uint32_t> queued;  // entries of `signals` in use
  std::atomic<std::uint32_t> kicked;             // it must check its state again (core/ptrace/tracing.h)
  std::uint32_t held;                            // entries of `held_signals` in use
  std::uint32_t stopped;                         // live: stopped by a signal from within the tree
  std::atomic<std::uint32_t> lends;              // live: kMayTake while it makes a call with the baton
  QueuedSignal signals[kSignalQueue];
  QueuedSignal held_signals[kHeldSignals];  // blocked signals with numbers that the kernel must never block
  std::uint64_t start_context;              // a new thread's first registers, on its core stack
  std::uint64_t policy_words[4];            // the policy's own
  std::uint64_t call_frame;                 // core_guarded's stack pointer during a system call, else 0
  PatchedCall patched_call;
  std::uint32_t core_tid_word;     // cleared by the kernel when the kernel thread has ended
  std::uint32_t repeats;           // consecutive points with the same place and object
  std::uint32_t run_length;        // consecutive points at which the policy was asked, with no other thread in between
  std::uint32_t run_began;         // lower half of the step before the first of them
  std::uint32_t spinning;          // explored run: 1: it gave way because it spins, and has not been chosen since
  std::uint32_t unseen_signals;    // recording: signals so far that the program must not see
  std::uint32_t spun_slices;       // recording: consecutive time slices that ended at one place
  std::uint64_t slice_end;         // recording: that place
  std::uint32_t has_scratch;       // its scratch memory is mapped
  std::uint32_t values_chosen;     // values that it asked for (reweave::choose)
  std::uint32_t early_timeouts;    // modelled: its waits that timed out although others could run
  std::uint32_t traced_stack;      // stack in its last kStack event
  std::uint32_t tsc_faults;        // 1: it asked for PR_TSC_SIGSEGV
  std::uint32_t fd_table;          // index of its descriptor table
  std::uint32_t tracee;            // index of its Tracee plus one, or 0
  std::uint32_t seccomp;           // number (from 1) of its newest filter; all ones: strict mode; 0: none
  std::int32_t outer_tid;          // as the target's first process sees it (core/schedule/pid_namespaces.h)
  std::uint16_t pids_of_children;  // the PID namespace of its future child processes
  std::uint32_t affinity_bytes;    // size of `affinity`; 0: the processors that all threads may see
  std::uint64_t affinity[16];      // the processors that the thread asked for and sees
  std::uint64_t once;        // its innermost pthread_once whose routine has not begun, or 0 (spin_barrier_once.cc)
  std::uint64_t waits_at;    // the return address of the interposed function in which it waits; 0: it is in none
  std::uint64_t peek_fails;  // where it continues if the load of peek() under way faults (recorder/peek.h); 0: none is
  // ID + 1 of its neighbours, or 0, among the threads of its process and those that wait in the same queue.
  std::uint16_t next_of_process, previous_of_process;  // recorder/live_threads.h
  std::uint16_t next_waiting, previous_waiting;        // recorder/wait_queues.h
};

// The schedule points left to a thread before the policy is asked: the sum of its counters.
inline std::int64_t points_left(const Thread& thread) {
  std::int64_t left = thread.countdown;
  for (std::int64_t counter : thread.stub_countdowns) left += counter;
  return left;
}

// Kinds of open files that the core distinguishes; values of FdEntry::kind. kShown: an edited copy of a file of /proc
// (core/syscalls/proc/shown_file.h).
enum class FdKind : std::uint8_t { kUnknown = 0, kRegular, kMayBlock, kOfProc, kShown };

struct FdEntry {
  FdKind kind;
  std::uint8_t std_stream : 2;  // wire::kWritesStdout / kWritesStderr or 0
  std::uint8_t times_out : 1;   // a socket with SO_RCVTIMEO or SO_SNDTIMEO
  std::uint8_t internet : 1;    // a socket of a family whose accepted sockets inherit the timeouts
  std::uint16_t kept;           // number of the kept file plus one, or kNotKept; 0: unknown
};

// Descriptors with numbers beyond the table are not tracked, except for those of standard output and error.
struct FarStream {
  long fd;
  std::uint32_t stream;  // 0: no entry
};

// Recording: the file opened last, by the name that the program gave (core/syscalls/files/fd_table.h).
struct OpenedFile {
  std::uint32_t table;  // table of descriptors
  std::uint32_t known;  // 0: there is none
  long fd;
  long flags;  // O_ bits
  char path[256];
  std::uint64_t told_step;  // schedule point of the call that returned its status to the program; 0: none
  struct stat told;
};

// Recording: where the last read of a kept file ended (core/syscalls/files/kept_files.h).
struct ReadPosition {
  std::uint64_t step;  // schedule point of that read; 0: none
  std::uint64_t offset;
  long fd;
};

// State of descriptors shared by some threads (core/syscalls/files/fd_sharing.h).
struct FdTable {
  FdEntry entries[kMaxFds];
  FarStream far_streams[16];
  std::uint32_t users;  // live threads that have this table
};

// The kernel's struct sigaction.
struct SignalAction {
  std::uint64_t handler;  // 0 = default, 1 = ignore
  std::uint64_t flags;
  std::uint64_t restorer;
  std::uint64_t mask;
};

// Values of Process::catches_all.
inline constexpr std::uint8_t kCatching = 1, kCatchesAll = 2, kReleasing = 3;

struct Process {
  std::int32_t pid;        // as it sees itself
  std::int32_t real_pid;   // in this run, as the supervisor sees it
  std::int32_t outer_pid;  // as the target's first process sees it (core/schedule/pid_namespaces.h)
  std::uint16_t pid_namespace;
  std::uint16_t index;
  std::uint16_t parent;
  std::uint16_t live_threads;
  std::uint16_t first_thread, last_thread;  // ID + 1 of the oldest and newest live thread (recorder/live_threads.h)
  std::uint8_t alive;
  // The processes, possibly this one, whose memory and handlers it uses (clone(2)).
  std::uint16_t memory_of, handlers_of;
  std::uint16_t memory_users;             // live processes that use its memory (recorder/alive_processes.h)
  ThreadId creator;                       // the thread that made it
  std::uint8_t exit_signal;               // sent to its parent when it ends
  std::uint8_t executed_in_run;           // explored run: 1: its program is not the fork server's
  std::uint8_t traced_outside;            // asked to be traced by the process that started the tree
  std::atomic<std::uint8_t> catches_all;  // live: the kernel delivers all its signals to the core, because it is traced
  std::uint32_t vfork_parent;             // ID + 1 of the thread that vfork suspended for this process, or 0
  std::uint64_t handled_signals;          // bit n-1: the target installed a handler
  std::uint64_t ignored_signals;
  std::uint64_t memory_limit;       // RLIMIT_AS + 1, enforced by the core; 0: none
  std::uint64_t memory_hard_limit;  // likewise
  std::uint64_t code_removals;      // times that code was unmapped; after each, an address may mean other code
  // Recording (core/signals/stops.h): the numbers of its threads that are about to stop it and that are moving the
  // baton.
  std::atomic<std::uint32_t> stopping, moving_baton;
  std::atomic<std::uint32_t> stop_cancelled;  // 1: it was continued after the last stop signal
  // Live: the signal of the group-stop in effect, or 0. A tracee that its tracer continues runs on during a group-stop,
  // which only SIGCONT ends. Maintained for processes that are traced, or stopped by another process of the tree.
  std::atomic<std::int32_t> group_stop;
  std::atomic<std::uint32_t> child_signal;  // 1: a SIGCHLD about a tracee, with child_info, is pending
  std::uint8_t child_info[128];
  SignalAction actions[65];  // by signal number
  char program[512];
  std::uint64_t program_device, program_inode;  // live: the file that it executes
  std::uint32_t program_slot;                   // of its program (kProgramSlots)
  std::uint32_t write_xor_execute;              // PR_SET_MDWE's flags (core/syscalls/memory/memory.cc)
};

// Values of RuntimeState::slice_over: the supervisor has signalled the holder; the holder has received the signal.
inline constexpr std::uint32_t kSliceTold = 1, kSliceTaken = 2;

// The memory of a policy (policy.h). An index out of range ends the run by SIGILL, because other state follows.
class PolicyWords {
 public:
  static constexpr std::size_t kCount = 1024;
  std::uint64_t& operator[](std::size_t i) {
    if (i >= kCount) __builtin_trap();
    return words_[i];
  }
  std::uint64_t operator[](std::size_t i) const { return const_cast<PolicyWords&>(*this)[i]; }
  std::uint64_t* begin() { return words_; }
  std::uint64_t* end() { return words_ + kCount; }

 private:
  std::uint64_t words_[kCount];
};

struct PolicyState {
  std::uint64_t random[4];  // generator state, seeded from the configuration
  PolicyWords words;        // the policy's own
  PolicyWords guide;        // for the policy `guided`, which runs another one
};

// Explored runs: a place in the program's code that entered the core by a signal. The fork server patches it
// (core/code/patching.h).
struct TrappedSite {
  std::uint64_t after;
  std::int64_t number;
};
inline constexpr std::uint32_t kMaxTrappedSites = 64;

// Recording: places in code with byte pairs that few instructions have (core/processor/searched_code.h).
struct SearchedCode {
  std::uint64_t name;          // identifies the file and the part of it
  std::uint32_t first, count;  // in searched_places
};
inline constexpr std::uint32_t kMaxSearched = 256, kMaxSearchedPlaces = 64 << 10;

// Recording: answers of the processor (core/processor/input_traps.h).
struct CpuidAnswer {
  std::uint32_t leaf, subleaf, value[4];
};
inline constexpr std::uint32_t kMaxCpuidAnswers = 64;

// Recording: files that the supervisor has noted, and copied if necessary (core/syscalls/files/map_file.h).
inline constexpr std::uint32_t kMaxNotedFiles = 256;

// Returns the index of the counter, in RuntimeState::waiting_at, of waits for the object at `address`. It depends only
// on the offset in the page, which is the same in all processes that share the object.
inline constexpr std::uint32_t kWaitSlots = 256;
constexpr std::uint64_t wait_slot(std::uint64_t address) { return address >> 3 & (kWaitSlots - 1); }

// Waiting threads in order of arrival (recorder/wait_queues.h): ID + 1 of the first and the last, or 0.
struct WaitQueue {
  std::uint16_t first, last;
};
inline constexpr std::uint32_t kWaitQueues = 1024;

struct RuntimeState {
  std::atomic<std::uint32_t> holder;       // thread id + 1, 0 = the baton is free
  std::atomic<std::uint32_t> next_holder;  // likewise: the thread to which the holder is giving it
  std::uint32_t last_holder;               // thread id
  std::uint32_t last_runner;               // ID of the thread that executed the last point
  wire::SwitchReason last_reason;          // why last_holder gave the baton away
  std::uint64_t step;                      // schedule points up to the last time the slow path ran
  std::uint64_t wait_order;
  std::uint32_t thread_count;               // IDs assigned so far
  std::uint32_t live_threads;               // members of `live`
  std::uint32_t ended_threads, next_ended;  // number of entries of the ring `ended`, and the index of the oldest
  std::uint32_t process_count;              // of the whole run
  std::uint32_t alive_count;                // members of `alive`
  std::uint32_t fd_tables_used;             // fd_tables used so far
  std::atomic<std::uint32_t> stalled_ms;    // set by the supervisor with the watchdog's signal
  std::uint32_t clock_reads_pass;           // 1: rdtsc cannot be made to fault here (core/processor/input_traps.h)
  std::uint32_t cpuid_recorded;             // 1: the recording has cpuid's answers
  FpLayout recorded_fp;                     // of signal frames on the recording machine; 0: unknown
  std::uint32_t has_counting_stubs;         // 1: a process of the tree has some (core/code/counting_stubs.h)
  std::uint32_t armed_sleds;                // 1: a process of the tree has some (core/code/sleds.h)
  std::atomic<std::uint32_t> slice_over;    // not 0: the holder's time slice is over and others could run (kSliceTold)
  std::uint32_t woken_starves;              // live: the holder has woken a thread that came too late several times
  std::uint64_t turns;                      // number of times that the baton changed hands
  std::uint64_t first_program;              // recording: a hash of the path of the program that the user named
  std::uint64_t api_table;                  // address of the core's CoreApi (core_api.h)
  std::uint64_t out_limit;                  // out.head may grow to this without another look at out.tail
  std::atomic<std::uint64_t> out_skipped;   // published bytes that were skipped, not written
  std::uint64_t feed_known;                 // feed.head when last read
  std::uint64_t shared_ids;                 // shared mappings numbered so far
  std::uint32_t run_is_tree;                // explored run: 1: it has created a process or executed a program
  std::int64_t virtual_now;                 // modelled environment: nanoseconds on its clocks
  std::uint32_t serves_files;               // recording: not 0 if a process of the tree may serve a file system
  std::uint32_t roots_differ;               // recording: not 0 if processes may have different roots or mounts
  std::uint32_t futex_vectors_used;         // futex_vectors used so far
  std::uint32_t seccomp_count, seccomp_used;  // the target's seccomp filters, and their instructions
  std::uint32_t stand_in_count;
  std::uint32_t stand_in_changes;  // how often the size or contents of one have changed
  std::uint32_t trapped_count;
  std::uint32_t descriptors_passed;    // recording: 1: a process of the tree may have sent or received descriptors
  std::uint64_t shared_memory_device;  // recording: device of /dev/shm; 0: unknown
  ReadPosition last_read;
  OpenedFile last_opened;
  PolicyState policy;
  // Number of blocked threads by wait_slot() of the object that they wait for; if it is 0, no thread need be woken.
  std::uint16_t waiting_at[kWaitSlots];
  WaitQueue wait_queues[kWaitQueues], vector_waits;
  IdSet<kMaxThreads> live;  // threads that have not exited (recorder/live_threads.h)
  // Threads that may be able to run, so that choosing among thousands of waiting threads need not look at each. A
  // thread that is missing waits or is in the kernel. Code that makes a thread able to run (its state is ready, or its
  // wait has expired) adds it afterwards. Only code that chooses a thread removes threads, and then checks them again.
  // So a thread that can run is in the set, except for the instant before it is added. In modelled runs none is
  // removed; replays take their choices from the recording.
  IdSet<kMaxThreads> awake;
  IdSet<kMaxThreads> waiting_for_owner;  // threads that wait for a futex whose owner is known (FUTEX_LOCK_PI)
  IdSet<kMaxFdTables> fd_tables_in_use;
  IdSet<kMaxProcesses> alive;  // processes that have not ended (recorder/alive_processes.h)
  std::uint32_t able_thread;   // ID of a thread that recently needed no others to continue (core/schedule/deadlock.cc)
  // Tables of which only the beginning is used come after what every run uses (core/explored/fork_server.cc).
  //
  // Mapped files that may change, by identity, and their sizes; in a replay the arena holds their contents.
  std::uint64_t stand_ins[kMaxStandIns];
  std::uint64_t stand_in_sizes[kMaxStandIns];
  SeccompFilter seccomp_filters[kMaxSeccompFilters];
  std::uint64_t seccomp_instructions[kMaxSeccompInstructions];
  FutexVector futex_vectors[kMaxFutexVectors];
  TrappedSite trapped[kMaxTrappedSites];
  std::uint16_t ended[kMaxThreads];  // IDs of exited threads in that order; reused when all IDs have been assigned
  Process processes[kMaxProcesses];
  FdTable fd_tables[kMaxFdTables];
  Thread threads[kMaxThreads];
  // From here on nothing is copied for explored runs, because they trace and supervise no processes.
  std::uint32_t tracing_began;  // 1: a thread of the tree traces or has traced
  Tracee tracees[kMaxTracees];
  std::uint64_t seccomp_notices_made;
  SeccompNotice seccomp_notices[kMaxThreads];  // by thread ID
  std::uint32_t searched_count, searched_places_used, cpuid_count, noted_count;
  SearchedCode searched[kMaxSearched];
  std::uint32_t searched_places[kMaxSearchedPlaces];
  CpuidAnswer cpuid_answers[kMaxCpuidAnswers];
  std::uint64_t noted_files[kMaxNotedFiles];  // names
  // Recording: hashes of the files that a process of the tree has opened for writing
  // (core/syscalls/files/written_files.h).
  std::atomic<std::uint64_t> written_files[kWrittenFileBits / 64];
};

inline constexpr std::uint64_t kHeaderBytes = 64 << 10;
static_assert(sizeof(ArenaHeader) <= kHeaderBytes);

inline constexpr std::uint64_t round_to(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}
inline constexpr std::uint64_t kStateBytes = round_to(sizeof(RuntimeState), 1 << 20);
// Policy data (PolicyConfig::goal_bytes), written by the supervisor before a run.
inline constexpr std::uint64_t kGoalOffset = round_to(kHeaderBytes + kStateBytes, 1 << 20);
inline constexpr std::uint64_t kGoalBytes = 8 << 20;
// Explored runs: the sites whose accesses need not ask the policy (recorder/observation.h), and the choices made.
inline constexpr std::uint64_t kQuietOffset = kGoalOffset + kGoalBytes;
inline constexpr std::uint64_t kQuietBytes = 64 << 10;
inline constexpr std::uint64_t kNotesOffset = kQuietOffset + kQuietBytes;
inline constexpr std::uint64_t kNotesBytes = 16 << 20;
inline constexpr std::uint64_t kStackCacheOffset = kNotesOffset + kNotesBytes;
// Offset of the out ring in the arena's file; the feed follows it.
inline constexpr std::uint64_t kRingsOffset = kStackCacheOffset + kStackCacheBytes;
static_assert(kArenaBase + kRingsOffset <= kOutBase);
static_assert(kStacksBase + kMaxThreads * kCoreStackBytes <= kIndexBase);

}  // namespace reweave

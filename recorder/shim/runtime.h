// Common basis of the interposed functions: the running thread's countdown, the core's table, the trace.
//
// Rules of this library: it names operations and leaves decisions to the core; no allocation, no locks, no exceptions,
// no state of its own except resolved addresses.
#pragma once

#include <unistd.h>

#include "recorder/core_api.h"
#include "recorder/peek.h"

#define REWEAVE_EXPORT extern "C" __attribute__((visibility("default")))
// The caller of the interposed function in the target.
#define REWEAVE_CALLER reinterpret_cast<std::uint64_t>(__builtin_return_address(0))

namespace reweave::shim {

inline RuntimeState& state() { return *reinterpret_cast<RuntimeState*>(kArenaBase + kHeaderBytes); }
inline const RunConfig& config() { return reinterpret_cast<ArenaHeader*>(kArenaBase)->config; }
inline const CoreApi& api() { return *reinterpret_cast<const CoreApi*>(state().api_table); }
inline bool tracing() { return config().sink == Sink::kTrace; }

inline Thread& self() {
  Thread* thread;
  asm volatile("movq %%gs:0, %0" : "=r"(thread));
  return *thread;
}

inline std::uint64_t address_of(const volatile void* p) { return reinterpret_cast<std::uint64_t>(p); }

// Lets the core deliver due signals. True if a wait should end with EINTR instead of continuing.
inline bool deliver_signals() {
  if (self().deliver_due == 0) return false;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(kDeliverSignals) : "rcx", "r11", "memory");
  return result != 0;
}

// The slow path of a schedule point. Before it, %gs:40 to %gs:63 hold the operation and %gs:64 holds %rax. The core
// runs and returns to label 7 with all registers restored. Then, if a signal is due, the syscall delivers it.
#define REWEAVE_SLOW_PATH      \
  "leaq 7f(%%rip), %%rax\n\t"  \
  "movq %%rax, %%gs:72\n\t"    \
  "jmp *%%gs:24\n"             \
  "7:\tcmpq $0, %%gs:32\n\t"   \
  "je 8f\n\t"                  \
  "movl %[deliver], %%eax\n\t" \
  "syscall\n"                  \
  "8:\n\t"

// A schedule point before an operation on `object`. The assembly text `count` runs first and jumps to label 8 if the
// policy need not be asked. The slow path keeps all registers and the target's stack, because recording and replay take
// it at different points. So both paths are one asm statement with the same operands. It is inline because an
// out-of-line stub would have no unwind table.
#define REWEAVE_POINT(count)                                                                                     \
  asm volatile(                                                                                                  \
      count                                                                                                      \
      "movq %%rax, %%gs:64\n\t"                                                                                  \
      "movq %[object], %%gs:40\n\t"                                                                              \
      "movq %[pc], %%gs:48\n\t"                                                                                  \
      "movl %[operation], %%gs:56\n\t"                                                                           \
      "movl %[detail], %%gs:60\n\t" REWEAVE_SLOW_PATH                                                            \
      :                                                                                                          \
      : [object] "r"(object), [pc] "r"(pc), [operation] "ri"(static_cast<std::uint32_t>(kind) | is_write << 16), \
        [detail] "ri"(detail), [deliver] "i"(kDeliverSignals)                                                    \
      : "rax", "rcx", "r11", "memory", "cc")

[[gnu::always_inline]] inline void point(OpKind kind, const volatile void* object, std::uint64_t pc,
                                         std::uint32_t detail = 0, std::uint32_t is_write = 1) {
  REWEAVE_POINT(
      "subq $1, %%gs:8\n\t"
      "jns 8f\n\t");
}

// A point at a site that the search is not interested in: it is counted, but the policy is asked only now and then, in
// case it is in a loop.
[[gnu::always_inline]] inline void quiet_point(OpKind kind, const volatile void* object, std::uint64_t pc,
                                               std::uint32_t detail, std::uint32_t is_write) {
  REWEAVE_POINT(
      "subq $1, %%gs:8\n\t"
      "cmpq $-1000000, %%gs:8\n\t"
      "jge 8f\n\t");
}

// Returns the place of the next packed trace record, after waiting until the ring has room for it.
inline std::uint64_t* trace_room() {
  Channel& out = reinterpret_cast<ArenaHeader*>(kArenaBase)->out;
  const std::uint64_t head = out.head.load(std::memory_order_relaxed);
  if (__builtin_expect(head + 64 > state().out_limit, 0)) api().trace_room();
  return reinterpret_cast<std::uint64_t*>(kOutBase + (head & (kOutRingBytes - 1)));
}

inline void trace_publish(std::uint64_t bytes) {
  Channel& out = reinterpret_cast<ArenaHeader*>(kArenaBase)->out;
  out.head.store(out.head.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
}

// Attributes for functions that only a traced run calls: they restore every register, so that a traced run has the same
// register values as an untraced one. These values are part of the context hash of the next system call, and of the
// registers by which the next preemption is identified (wire::PreemptRecord).
#define REWEAVE_KEEPS_REGISTERS gnu::no_caller_saved_registers, gnu::target("general-regs-only")

// A 16-byte trace record.
[[gnu::noinline, REWEAVE_KEEPS_REGISTERS]] inline void trace_short(EventKind kind, std::uint8_t low,
                                                                   std::uint64_t address, std::uint64_t pc) {
  std::uint64_t* words = trace_room();
  words[0] = wire::pack_word0(kind, low, address, false);
  words[1] = wire::pack_word1(pc, self().id);
  trace_publish(16);
}

// The trace record of an access, with the value there if it has at most 8 bytes. `low` is the low byte of the record.
[[gnu::noinline, REWEAVE_KEEPS_REGISTERS]] inline void trace_value(EventKind kind, std::uint8_t low,
                                                                   std::uint64_t address, std::uint64_t pc) {
  std::uint64_t value = 0;
  if (!peek(address, std::uint64_t{1} << (low & 7), value)) return trace_short(kind, low, address, pc);
  std::uint64_t* words = trace_room();
  words[0] = wire::pack_word0(kind, low | wire::kTraceValue, address, false);
  words[1] = wire::pack_word1(pc, self().id);
  words[2] = value;
  trace_publish(24);
}

// A 24-byte trace record.
[[gnu::noinline, REWEAVE_KEEPS_REGISTERS]] inline void trace_long(EventKind kind, std::uint8_t aux,
                                                                  std::uint64_t address, std::uint64_t pc,
                                                                  std::uint64_t extra) {
  std::uint64_t* words = trace_room();
  words[0] = wire::pack_word0(kind, aux, address, true);
  words[1] = wire::pack_word1(pc, self().id);
  words[2] = extra;
  trace_publish(24);
}

// Writes two records for an event that uses its object: a read of the object's first byte, then the event. The read,
// as in ThreadSanitizer, conflicts with creating, destroying or freeing the object.
[[gnu::noinline, REWEAVE_KEEPS_REGISTERS]] inline void trace_use(EventKind kind, std::uint8_t aux,
                                                                 std::uint64_t address, std::uint64_t pc,
                                                                 std::uint64_t extra) {
  trace_long(EventKind::kRead, kSamePoint, address, pc, 1);
  trace_long(kind, aux, address, pc, extra);
}

// The records for a lock that was free: used, requested and acquired.
[[gnu::noinline, REWEAVE_KEEPS_REGISTERS]] inline void trace_acquired(EventKind, std::uint8_t aux,
                                                                      std::uint64_t address, std::uint64_t pc,
                                                                      std::uint64_t extra) {
  trace_use(EventKind::kLockRequest, aux, address, pc, extra);
  trace_long(EventKind::kLock, aux, address, pc, extra);
}

// Switches to the core's stack and pushes the old stack pointer there. Does not change the target's stack.
#define REWEAVE_TO_CORE_STACK "movq %%rsp, %%gs:80\n\tmovq %%gs:16, %%rsp\n\tpushq %%gs:80\n\t"

// If the run is traced, runs the assembly text `stack` and then traces an event. Registers, flags and stack end up the
// same whether the run is traced or not. They identify later instants (recorder/core/preempt/instant.h), and a traced
// replay must recognise the instants of an untraced recording. So both paths are one asm statement with the same
// operands.
#define REWEAVE_NOTE(stack, writer)                                                                               \
  asm volatile(                                                                                                   \
      "movabsq %[sink], %%rax\n\t"                                                                                \
      "cmpl %[trace], (%%rax)\n\t"                                                                                \
      "jne 9f\n\t" stack REWEAVE_TO_CORE_STACK                                                                    \
      "pushq %%rdi\n\tpushq %%rsi\n\tpushq %%rdx\n\tpushq %%rcx\n\tpushq %%r8\n\t"                                \
      "pushq %[extra]\n\tpushq %[pc]\n\tpushq %[object]\n\tpushq %[aux]\n\tpushq %[kind]\n\t"                     \
      "popq %%rdi\n\tpopq %%rsi\n\tpopq %%rdx\n\tpopq %%rcx\n\tpopq %%r8\n\t"                                     \
      "call %P[write]\n\t"                                                                                        \
      "popq %%r8\n\tpopq %%rcx\n\tpopq %%rdx\n\tpopq %%rsi\n\tpopq %%rdi\n\tpopq %%rsp\n"                         \
      "9:\txorl %%eax, %%eax"                                                                                     \
      :                                                                                                           \
      : [sink] "i"(kArenaBase + offsetof(ArenaHeader, config.sink)), [trace] "i"(static_cast<int>(Sink::kTrace)), \
        [kind] "ri"(static_cast<std::uint64_t>(kind)), [aux] "ri"(static_cast<std::uint64_t>(aux)),               \
        [object] "r"(object), [pc] "r"(pc), [extra] "re"(extra), [write] "i"(writer)                              \
      : "rax", "memory", "cc")

// Lets the core trace the call stack of an event at `pc`. All registers and the stack are unchanged.
#define REWEAVE_TRACE_STACK   \
  "movq %[pc], %%gs:48\n\t"   \
  "movq %%rax, %%gs:64\n\t"   \
  "leaq 1f(%%rip), %%rax\n\t" \
  "movq %%rax, %%gs:72\n\t"   \
  "jmp *%%gs:88\n"            \
  "1:\t"

// Traces a synchronisation event if the run is traced.
[[gnu::always_inline]] inline void note(EventKind kind, const volatile void* object, std::uint64_t pc,
                                        std::uint8_t aux = 0, std::uint64_t extra = 0) {
  if (has_stack(kind))
    REWEAVE_NOTE(REWEAVE_TRACE_STACK, trace_long);
  else
    REWEAVE_NOTE("", trace_long);
}

// The same, and notes that the object is used.
[[gnu::always_inline]] inline void note_use(EventKind kind, const volatile void* object, std::uint64_t pc,
                                            std::uint8_t aux = 0, std::uint64_t extra = 0) {
  if (has_stack(kind))
    REWEAVE_NOTE(REWEAVE_TRACE_STACK, trace_use);
  else
    REWEAVE_NOTE("", trace_use);
}

// Traces the use, request and acquisition of a lock that was free.
[[gnu::always_inline]] inline void note_acquired(const volatile void* object, std::uint64_t pc) {
  constexpr EventKind kind = EventKind::kLockRequest;
  constexpr std::uint8_t aux = 0;
  constexpr std::uint64_t extra = 0;
  REWEAVE_NOTE(REWEAVE_TRACE_STACK, trace_acquired);
}

// Traces a memory access, whose value is still to change; `aux` is the low byte of its record.
[[gnu::always_inline]] inline void note_value(EventKind kind, std::uint8_t aux, const volatile void* object,
                                              std::uint64_t pc) {
  constexpr std::uint64_t extra = 0;
  REWEAVE_NOTE("", trace_value);
}

// Traces a fence of memory order `aux`.
[[gnu::always_inline]] inline void note_fence(std::uint8_t aux, std::uint64_t pc) {
  constexpr EventKind kind = EventKind::kFence;
  constexpr const void* object = nullptr;
  constexpr std::uint64_t extra = 0;
  REWEAVE_NOTE("", trace_short);
}

// Traces additional information that race reports need.
[[gnu::always_inline]] inline void note_hint(Hint hint, const volatile void* object, std::uint64_t pc,
                                             std::uint64_t extra) {
  note(EventKind::kHint, object, pc, static_cast<std::uint8_t>(hint), extra);
}

// Notes during its lifetime where the thread waits. The message of a deadlock names that place. Nests, because signal
// handlers may also wait.
class WaitsAt {
 public:
  explicit WaitsAt(std::uint64_t pc) : outer_(self().waits_at) { self().waits_at = pc; }
  ~WaitsAt() { self().waits_at = outer_; }
  WaitsAt(const WaitsAt&) = delete;
  WaitsAt& operator=(const WaitsAt&) = delete;

 private:
  const std::uint64_t outer_;
};

inline WaitResult block(WaitKind kind, const volatile void* object, std::uint64_t pc, const void* deadline = nullptr,
                        int clock = 0, std::int32_t owner_tid = 0) {
  const WaitsAt place(pc);
  return api().block(kind, address_of(object), deadline, clock, owner_tid);
}

// False: no thread waits for the object. True: a thread may be waiting.
inline bool is_awaited(const volatile void* object) { return state().waiting_at[wait_slot(address_of(object))] != 0; }

inline void wake(WaitKind kind, const volatile void* object, std::uint32_t count) {
  if (is_awaited(object)) api().wake(kind, address_of(object), count);
}

}  // namespace reweave::shim

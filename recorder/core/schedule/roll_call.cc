#include "recorder/core/schedule/roll_call.h"

#include <asm/prctl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include "recorder/live_threads.h"

#pragma GCC visibility push(hidden)
extern "C" {
void core_park(std::atomic<std::uint32_t>* word, std::uint32_t seen, reweave::core::ParkedThread* parked,
               std::uint64_t state_bytes, std::uint32_t roll_call);
[[noreturn]] void core_unpark(const reweave::core::ParkedThread* parked);
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

static_assert(offsetof(ParkedThread, stack) == 0 && offsetof(ParkedThread, frame) == 8);  // entry.S
static_assert(offsetof(ParkedThread, answered) == 16);

std::atomic<std::uint32_t> roll_call;  // number of the last one of this process; 0: there was none
// Placed after all variables that every run touches (core.ld).
[[gnu::section(".bss.0sparse")]] ParkedThread threads[kMaxThreads];
std::uint64_t state_bytes;  // of the extended state as XSAVE writes it; 0: not asked yet

struct Answer {
  std::uint32_t a, b, c, d;
};

Answer ask_processor(std::uint32_t leaf) {
  Answer answer = {leaf, 0, 0, 0};
  asm("cpuid" : "+a"(answer.a), "=b"(answer.b), "+c"(answer.c), "=d"(answer.d));
  return answer;
}

// 0: the processor has no XSAVE, or the kernel does not use it (Intel SDM, volume 1, chapter 13).
std::uint64_t extended_state_bytes() {
  constexpr std::uint32_t kFeatures = 1, kUsesXsave = 1u << 27, kExtendedState = 0xd;
  return (ask_processor(kFeatures).c & kUsesXsave) != 0 ? ask_processor(kExtendedState).b : 0;
}

bool has_answered(const Thread& thread) { return parked(thread).answered.load() == roll_call.load(); }

// All threads share a processor with the caller.
bool await_answer(const Thread& thread) {
  constexpr int kYields = 100, kPauses = 20'000;
  const long pause[2] = {0, 50'000};
  for (int i = 0; i < kYields && !has_answered(thread); i++) sys(SYS_sched_yield);
  for (int i = 0; i < kPauses && !has_answered(thread); i++) sys(SYS_nanosleep, pause, nullptr);
  return has_answered(thread);
}

}  // namespace

ParkedThread& parked(const Thread& thread) { return threads[thread.id]; }

const char* call_roll() {
  if (state_bytes == 0) state_bytes = extended_state_bytes();
  if (state_bytes == 0) return "this processor has no XSAVE";
  if (state_bytes > kCoreStackBytes / 4) return "this processor has more registers than a thread's stack has room for";
  const Thread& me = self();
  RuntimeState& s = state();
  roll_call.fetch_add(1);
  for (Thread& thread : threads_of(s, process())) {
    if (thread.id == me.id) continue;
    thread.go.fetch_or(kGoAttention);
    sys(SYS_futex, &thread.go, FUTEX_WAKE, 1);
    if (!await_answer(thread)) return "a thread did not reach the place where it waits for its turn";
  }
  return nullptr;
}

bool roll_is_called(const Thread& me) { return !has_answered(me); }

void answer_roll_call(Thread& me) {
  ParkedThread& here = parked(me);
  sys(SYS_arch_prctl, ARCH_GET_FS, &here.fs_base);
  sys(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &here.signal_mask, 8);
  core_park(&me.go, me.go.load() & ~(kGoAttention | kGoBaton), &here, state_bytes, roll_call.load());
}

void continue_in_copy(Thread& me) {
  ParkedThread& here = parked(me);
  here.is_copy = false;
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &here.signal_mask, nullptr, 8);
  core_unpark(&here);
}

}  // namespace reweave::core

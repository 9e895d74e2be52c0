#include "recorder/core/processor/machine_trial.h"

#include <signal.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/log/inputs.h"
#include "recorder/core/log/log.h"
#include "recorder/core/signals/fp_state.h"
#include "recorder/core/signals/kernel_signals.h"

namespace reweave::core {

namespace {

struct Trial {
  int faults;
  bool privileged_faults, clock_read_faults;
  FpLayout fp_layout;
} trial;

extern "C" [[gnu::visibility("hidden")]] void core_on_trial(int, void*, void* raw_context) {
  auto& registers = static_cast<KernelContext*>(raw_context)->registers;
  constexpr std::uint64_t kBytes = 2;  // of either instruction
  trial.fp_layout = fp_layout_of(reinterpret_cast<const void*>(registers.fp_state));
  trial.faults++;
  registers.rip += kBytes;
}

// Executes a privileged instruction, which faults everywhere, and a read of the counter. The core's handlers are not
// installed yet, and the process that started this one may have blocked the signals. An emulator may raise SIGILL for a
// privileged instruction.
void make_trial() {
  constexpr int kSignals[] = {SIGSEGV, SIGILL};
  const std::uint64_t bits = signal_bit(SIGSEGV) | signal_bit(SIGILL);
  SignalAction before[2] = {};
  std::uint64_t mask = 0;
  for (int i = 0; i < 2; i++) {
    sys(SYS_rt_sigaction, kSignals[i], nullptr, &before[i], 8);
    set_real_action(kSignals[i], reinterpret_cast<std::uint64_t>(&core_on_trial), SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
  }
  sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &bits, &mask, 8);
  asm volatile("clts" ::: "memory");
  trial.privileged_faults = trial.faults == 1;
  asm volatile("rdtsc" ::: "rax", "rdx", "memory");
  trial.clock_read_faults = trial.faults == 2;
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
  for (int i = 0; i < 2; i++) sys(SYS_rt_sigaction, kSignals[i], &before[i], nullptr, 8);
}

bool is_announced() {
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kInput)) return false;
  return wire::record_cast<wire::InputRecord>(*header).source ==
         static_cast<std::uint32_t>(wire::InputSource::kCpuidRecorded);
}

InputValues values_of(const FpLayout& layout) {
  return {{layout.extended_bytes, layout.bytes, layout.components, layout.mxcsr_mask}};
}

FpLayout layout_of(const InputValues& values) {
  const auto [extended_bytes, bytes, components, mxcsr_mask] = values.value;
  constexpr std::uint64_t kLeast = 576, kWithAvx = 832,
                          kMost = 64 << 10;  // bytes of legacy area and header; the same with AVX
  constexpr std::uint64_t kAvx = 4, kEndMark = 4;
  const bool has_room = bytes >= ((components & kAvx) != 0 ? kWithAvx : kLeast);
  if (!has_room || bytes > kMost || extended_bytes != bytes + kEndMark) return {};
  return {static_cast<std::uint32_t>(extended_bytes), static_cast<std::uint32_t>(bytes), components, mxcsr_mask};
}

}  // namespace

void try_machine() {
  RuntimeState& s = state();
  make_trial();
  if (!trial.privileged_faults)
    stop_run(wire::OutcomeKind::kUnsupported, "this machine executes privileged instructions");
  s.clock_reads_pass = trial.clock_read_faults ? 0 : 1;
  s.cpuid_recorded = !replaying() || is_announced() ? 1 : 0;
  if (s.cpuid_recorded == 0) return;
  constexpr auto kAnnouncement = wire::InputSource::kCpuidRecorded;
  s.recorded_fp = layout_of(input(kAnnouncement, [] { return values_of(trial.fp_layout); }));
}

}  // namespace reweave::core

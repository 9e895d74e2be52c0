#include "recorder/core/processor/input_traps.h"

#include "recorder/core/base/guarded_call.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"
#include "recorder/core/processor/input_instructions.h"
#include "recorder/core/processor/processor_level.h"
#include "recorder/core/processor/tsc.h"
#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

namespace {

// Caches the answers: each loader asks the same questions, and each answer takes some microseconds in a virtual
// machine. All threads of the tree share a processor.
InputValues ask_cpuid(std::uint64_t leaf, std::uint64_t subleaf) {
  RuntimeState& s = state();
  auto a = static_cast<std::uint32_t>(leaf), c = static_cast<std::uint32_t>(subleaf);
  for (std::uint32_t i = 0; i < s.cpuid_count; i++) {
    const CpuidAnswer& known = s.cpuid_answers[i];
    if (known.leaf == a && known.subleaf == c)
      return {{known.value[0], known.value[1], known.value[2], known.value[3]}};
  }
  CpuidAnswer answer = {a, c, {}};
  auto& value = answer.value;
  asm volatile("cpuid" : "=a"(value[0]), "=b"(value[1]), "=c"(value[2]), "=d"(value[3]) : "a"(a), "c"(c));
  if (s.cpuid_count < kMaxCpuidAnswers) s.cpuid_answers[s.cpuid_count++] = answer;
  return {{value[0], value[1], value[2], value[3]}};
}

bool emulate_cpuid(KernelContext& context, const Trapped& trapped) {
  auto& r = context.registers;
  arm();
  const InputValues answer = input(trapped.source, [&r] {
    InputValues all = ask_cpuid(r.rax, r.rcx);
    hide_from_cpuid(config().processor_level, r.rax, r.rcx, all.value);
    return all;
  });
  r.rax = answer.value[0];
  r.rbx = answer.value[1];
  r.rcx = answer.value[2];
  r.rdx = answer.value[3];
  r.rip += trapped.bytes;
  arm();
  return true;
}

long read_control(void* pointer) {
  auto& values = *static_cast<InputValues*>(pointer);
  const auto number = static_cast<std::uint32_t>(values.value[0]);
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(number));
  values = {{low, high}};
  return 0;
}

// For a register that the processor does not have, the program gets its fault.
bool emulate_xgetbv(KernelContext& context, const Trapped& trapped) {
  auto& r = context.registers;
  constexpr std::uint64_t kInUse = 1, kFaulted = 1;  // XCR0 is 0; 1 tells which of its state is in use
  const std::uint64_t number = r.rcx & 0xffffffff;
  if (number > kInUse) return false;
  arm();
  const InputValues answer = input(trapped.source, [number] {
    Thread& me = self();
    InputValues values = {{number}};
    if (core_guarded(read_control, &values, &me.call_frame) != 0) values = {{0, 0, kFaulted}};
    me.call_frame = 0;
    return values;
  });
  if (answer.value[2] == kFaulted) return false;
  r.rax = answer.value[0];
  r.rdx = answer.value[1];
  r.rip += trapped.bytes;
  arm();
  return true;
}

}  // namespace

bool trap_input(std::uint64_t start, std::uint64_t at, std::uint64_t end) {
  struct Kind {
    wire::InputSource source;
    bool (*emulate)(KernelContext&, const Trapped&);
  };
  constexpr Kind kKinds[] = {{},
                             {wire::InputSource::kRdtsc, emulate_trapped_tsc},
                             {wire::InputSource::kRdtscp, emulate_trapped_tsc},
                             {wire::InputSource::kCpuid, emulate_cpuid},
                             {wire::InputSource::kXgetbv, emulate_xgetbv}};
  const InputInstruction found = input_instruction(code_at(start), code_at(at), code_at(end));
  if (found == InputInstruction::kNone) return false;
  const bool is_clock = found == InputInstruction::kRdtsc || found == InputInstruction::kRdtscp;
  const Kind& kind = kKinds[static_cast<int>(found)];
  if (is_clock ? state().clock_reads_pass != 0 : state().cpuid_recorded != 0)
    remember_trapped({at, static_cast<std::uint8_t>(bytes_of(found)), 0, 0, 0, kind.source, kind.emulate});
  return true;
}

}  // namespace reweave::core

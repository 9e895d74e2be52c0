#include "recorder/core/tsc.h"

#include <linux/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/log.h"
#include "recorder/core/scheduler.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kExecutable = 4;  // PROT_EXEC

std::uint64_t read_tsc() {
  std::uint32_t low, high;
  sys(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE);
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  sys(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
  return static_cast<std::uint64_t>(high) << 32 | low;
}

}  // namespace

bool emulate_tsc(KernelContext& context) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(context.registers.rip);
  const Region* region = region_at(context.registers.rip);
  if (region == nullptr || (region->prot & kExecutable) == 0 || context.registers.rip + 3 > region->accessible_end())
    return false;
  const bool known = code[0] == 0x0f || (replaying() && code[0] == 0xcc);  // 0xcc: a debugger's breakpoint is there
  const bool plain = known && code[1] == 0x31;
  const bool with_cpu = known && !plain && code[1] == 0x01 && code[2] == 0xf9;
  if ((!plain && !with_cpu) || self().tsc_faults != 0) return false;
  arm();
  std::uint64_t value;
  if (replaying()) {
    value = expect<wire::InputRecord>(wire::RecordKind::kInput, "read the time stamp counter").values[0];
    consume_record();
  } else {
    value = modelled() ? static_cast<std::uint64_t>(state().virtual_now += 1'000) : read_tsc();
    RecordWriter record(wire::RecordKind::kInput, self().id, sizeof(wire::InputRecord), 0);
    auto& body = record.body<wire::InputRecord>();
    body.source = with_cpu ? 1 : 0;
    body.reserved = 0;
    body.values[0] = value;
    body.values[1] = body.values[2] = body.values[3] = 0;
    record.commit();
  }
  context.registers.rax = value & 0xffffffff;
  context.registers.rdx = value >> 32;
  if (with_cpu) context.registers.rcx = 0;
  context.registers.rip += plain ? 2 : 3;
  arm();
  return true;
}

}  // namespace reweave::core

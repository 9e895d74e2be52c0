#include "recorder/core/processor/tsc.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/processor/tsc_source.h"
#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kExecutable = 4;  // PROT_EXEC

// The value that the program receives: taken from the recording, or logged.
std::uint64_t logged_value(bool with_cpu) {
  return input(with_cpu ? wire::InputSource::kRdtscp : wire::InputSource::kRdtsc,
               [] {
                 const auto value = modelled() ? static_cast<std::uint64_t>(state().virtual_now += 1'000) : read_tsc();
                 return InputValues{{value}};
               })
      .value[0];
}

// True if there is room for an instruction of two or three bytes that reads the counter at `ip`.
bool is_code(std::uint64_t ip) {
  const Region* region = region_at(ip);
  if (region == nullptr || (region->prot & kExecutable) == 0) return false;
  const std::uint64_t end = region->accessible_end();
  return ip + 3 <= end || bytes_there(ip, 3) == 3 || (ip + 2 <= end && code_at(ip)[1] == 0x31);
}

std::uint64_t bytes_in_stub(std::uint64_t ip) {
  const std::uint64_t bytes = clock_bytes(ip);
  return bytes != 0 ? bytes : trapped_clock_bytes(ip);
}

// Length of the instruction at `ip` if it reads the counter, else 0. A debugger's breakpoint may replace its first
// byte.
std::uint64_t bytes_at(std::uint64_t ip) {
  if (in_stub(ip)) return bytes_in_stub(ip);
  if (!is_code(ip)) return 0;
  const std::uint8_t* code = code_at(ip);
  if (!replaying() || code[0] != 0xcc) return clock_bytes(ip);
  if (code[1] == 0x31) return 2;
  return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

bool answer(KernelContext& context, std::uint64_t bytes) {
  if (self().tsc_faults != 0) return false;
  const std::uint64_t ip = context.registers.rip;
  arm();
  if (!in_stub(ip) && (context.registers.eflags & kTrapFlag) == 0) note_clock_site(ip + bytes, context.registers);
  const std::uint64_t value = logged_value(bytes == 3);
  context.registers.rax = value & 0xffffffff;
  context.registers.rdx = value >> 32;
  if (bytes == 3) context.registers.rcx = 0;
  context.registers.rip = landing(ip + bytes);
  arm();
  return true;
}

}  // namespace

bool emulate_tsc(KernelContext& context) {
  const std::uint64_t bytes = bytes_at(context.registers.rip);
  return bytes != 0 && answer(context, bytes);
}

bool emulate_trapped_tsc(KernelContext& context, const Trapped& trapped) { return answer(context, trapped.bytes); }

struct ClockAnswer {
  std::uint64_t value;
  std::uint64_t resume;
};

// Called from entry.S. `resume` is the address after the stub's instruction.
extern "C" ClockAnswer core_on_patched_clock(std::uint64_t resume) {
  if (self().tsc_faults != 0) return {0, resume - kClockInstructionBytes};
  arm();
  const std::uint64_t value = logged_value(bytes_in_stub(resume - kClockInstructionBytes) == 3);
  arm();
  return {value, resume};
}

}  // namespace reweave::core

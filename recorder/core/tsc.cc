#include "recorder/core/tsc.h"

#include "recorder/core/address_space.h"
#include "recorder/core/code_patterns.h"
#include "recorder/core/input_traps.h"
#include "recorder/core/log.h"
#include "recorder/core/patching.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/stubs.h"
#include "recorder/core/tsc_source.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kExecutable = 4;  // PROT_EXEC

// The value that the program gets: recorded, or to be recorded.
std::uint64_t logged_value(bool with_cpu) {
  if (replaying()) {
    const auto& record = expect<wire::InputRecord>(wire::RecordKind::kInput, "read the time stamp counter");
    if (record.source != (with_cpu ? 1 : 0)) diverged("read the time stamp counter", &record.header);
    const std::uint64_t value = record.values[0];
    consume_record();
    return value;
  }
  const std::uint64_t value = modelled() ? static_cast<std::uint64_t>(state().virtual_now += 1'000) : read_tsc();
  RecordWriter record(wire::RecordKind::kInput, self().id, sizeof(wire::InputRecord), 0);
  auto& body = record.body<wire::InputRecord>();
  body.source = with_cpu ? 1 : 0;
  body.reserved = 0;
  body.values[0] = value;
  body.values[1] = body.values[2] = body.values[3] = 0;
  record.commit();
  return value;
}

// True if a whole instruction that reads the counter can be at `ip`: one of two bytes, or three.
bool is_code(std::uint64_t ip) {
  const Region* region = region_at(ip);
  if (region == nullptr || (region->prot & kExecutable) == 0) return false;
  const std::uint64_t end = region->accessible_end();
  return ip + 3 <= end || bytes_there(ip, 3) == 3 || (ip + 2 <= end && code_at(ip)[1] == 0x31);
}

// Of a stub, where it may be one that faults in its stead.
std::uint64_t bytes_in_stub(std::uint64_t ip) {
  const std::uint8_t* code = code_at(ip);
  if (code[0] != 0x0f || code[1] != kInvalidOpcode) return clock_bytes(ip);
  return code[2] == 0xf9 ? 3 : 2;
}

// Bytes of the instruction at `ip` if it reads the counter, or 0. A debugger's breakpoint may be in its first byte.
std::uint64_t bytes_at(std::uint64_t ip) {
  if (in_stub(ip)) return bytes_in_stub(ip);
  if (const std::uint64_t trapped = trapped_clock_bytes(ip)) return trapped;
  if (!is_code(ip)) return 0;
  const std::uint8_t* code = code_at(ip);
  if (!replaying() || code[0] != 0xcc) return clock_bytes(ip);
  if (code[1] == 0x31) return 2;
  return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

}  // namespace

bool emulate_tsc(KernelContext& context) {
  const std::uint64_t ip = context.registers.rip;
  const std::uint64_t bytes = bytes_at(ip);
  if (bytes == 0 || self().tsc_faults != 0) return false;
  arm();
  if (!in_stub(ip) && (context.registers.eflags & kTrapFlag) == 0) note_clock_site(ip + bytes);
  const std::uint64_t value = logged_value(bytes == 3);
  context.registers.rax = value & 0xffffffff;
  context.registers.rdx = value >> 32;
  if (bytes == 3) context.registers.rcx = 0;
  context.registers.rip = landing(ip + bytes);
  arm();
  return true;
}

struct ClockAnswer {
  std::uint64_t value;
  std::uint64_t resume;
};

// From entry.S. `resume` is behind the instruction of the stub.
extern "C" ClockAnswer core_on_patched_clock(std::uint64_t resume) {
  if (self().tsc_faults != 0) return {0, resume - kClockInstructionBytes};
  arm();
  const std::uint64_t value = logged_value(bytes_in_stub(resume - kClockInstructionBytes) == 3);
  arm();
  return {value, resume};
}

}  // namespace reweave::core

#include "recorder/core/input_traps.h"

#include <signal.h>
#include <sys/syscall.h>

#include "recorder/core/code_patterns.h"
#include "recorder/core/code_search.h"
#include "recorder/core/dispatch.h"
#include "recorder/core/faults.h"
#include "recorder/core/input_instructions.h"
#include "recorder/core/kernel_signals.h"
#include "recorder/core/log.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/stubs.h"

namespace reweave::core {

namespace {

// InputRecord::source
constexpr std::uint32_t kCpuid = 2;
constexpr std::uint32_t kCpuidIsRecorded = 6;  // at the start of a recording

struct Place {
  std::uint64_t at;
  InputInstruction instruction;
};

constexpr std::uint32_t kMaxPlaces = 256;
Place places[kMaxPlaces];
std::uint32_t place_count;

const Place* place_at(std::uint64_t ip) {
  for (std::uint32_t i = 0; i < place_count; i++)
    if (places[i].at == ip) return &places[i];
  return nullptr;
}

bool is_to_fault(InputInstruction instruction) {
  if (instruction == InputInstruction::kNone) return false;
  return instruction == InputInstruction::kCpuid ? state().cpuid_recorded != 0 : state().clock_reads_pass != 0;
}

bool note(std::uint64_t at, InputInstruction instruction) {
  const Place* known = place_at(at);
  if (known == nullptr && place_count == kMaxPlaces) return false;
  places[known != nullptr ? static_cast<std::uint32_t>(known - places) : place_count++] = {at, instruction};
  return true;
}

long read_clock(void*) {
  asm volatile("rdtsc" ::: "rax", "rdx");
  return 0;
}

// The handlers are not there yet, and whoever started us may have blocked the signal.
bool clock_reads_fault() {
  Thread& me = self();
  const std::uint64_t bit = signal_bit(SIGSEGV);
  SignalAction action = {};
  std::uint64_t mask = 0;
  sys(SYS_rt_sigaction, SIGSEGV, nullptr, &action, 8);
  set_real_action(SIGSEGV, reinterpret_cast<std::uint64_t>(&core_on_fault), SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
  sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, &mask, 8);
  const bool fault = core_guarded(read_clock, nullptr, &me.call_frame) != 0;
  me.call_frame = 0;
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
  sys(SYS_rt_sigaction, SIGSEGV, &action, nullptr, 8);
  return fault;
}

// Replaces what was noted from `first` to `last`. At once: to change the protection of memory takes long, above all
// where this is needed.
void replace_noted(std::uint64_t first, std::uint64_t last) {
  const Writable pages(first, last + 2 - first);
  for (std::uint32_t i = 0; i < place_count && pages.done(); i++)
    if (places[i].at >= first && places[i].at <= last)
      *reinterpret_cast<std::uint8_t*>(places[i].at + 1) = kInvalidOpcode;
}

const Place* trapped_at(std::uint64_t ip) {
  const Place* place = place_at(ip);
  return place != nullptr && code_region(ip) != nullptr && code_at(ip)[1] == kInvalidOpcode ? place : nullptr;
}

void log_input(std::uint32_t source, const std::uint64_t (&values)[4]) {
  RecordWriter record(wire::RecordKind::kInput, self().id, sizeof(wire::InputRecord), 0);
  auto& body = record.body<wire::InputRecord>();
  body.source = source;
  body.reserved = 0;
  for (int i = 0; i < 4; i++) body.values[i] = values[i];
  record.commit();
}

// True if the next record says that cpuid is recorded.
bool is_announced() {
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kInput)) return false;
  return reinterpret_cast<const wire::InputRecord*>(header)->source == kCpuidIsRecorded;
}

// Answers to `leaf` and `subleaf`, in the order rax, rbx, rcx, rdx: recorded, or to be recorded.
void logged_answer(std::uint64_t leaf, std::uint64_t subleaf, std::uint64_t (&values)[4]) {
  if (replaying()) {
    const auto& record = expect<wire::InputRecord>(wire::RecordKind::kInput, "asked the processor");
    if (record.source != kCpuid) diverged("asked the processor what it is", &record.header);
    for (int i = 0; i < 4; i++) values[i] = record.values[i];
    return consume_record();
  }
  std::uint32_t a = static_cast<std::uint32_t>(leaf), b, c = static_cast<std::uint32_t>(subleaf), d;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  const std::uint64_t answers[4] = {a, b, c, d};
  for (int i = 0; i < 4; i++) values[i] = answers[i];
  log_input(kCpuid, values);
}

}  // namespace

void decide_input_traps() {
  RuntimeState& s = state();
  s.clock_reads_pass = clock_reads_fault() ? 0 : 1;
  s.cpuid_recorded = replaying() ? is_announced() : s.clock_reads_pass;
  if (s.cpuid_recorded == 0) return;
  if (replaying()) return consume_record();
  log_input(kCpuidIsRecorded, {});
}

bool traps_all_inputs() { return state().clock_reads_pass != 0 && state().cpuid_recorded != 0; }

bool trap_inputs(std::uint64_t start, std::uint64_t end) {
  const Region* region = code_region(start);
  const bool any_to_find = state().clock_reads_pass != 0 || state().cpuid_recorded != 0;
  if (!any_to_find || region == nullptr || end > region->end) return false;
  constexpr std::uint64_t kMostBytes = 3;
  const std::uint64_t last = end - kMostBytes;
  std::uint64_t first_noted = 0, last_noted = 0;
  for (std::uint64_t at = find_input_pair(start, last); at < last; at = find_input_pair(at + 1, last)) {
    const InputInstruction found = input_instruction(code_at(start), code_at(at), code_at(end));
    if (!is_to_fault(found) || !note(at, found)) continue;
    if (first_noted == 0) first_noted = at;
    last_noted = at;
  }
  if (first_noted != 0) replace_noted(first_noted, last_noted);
  return first_noted != 0;
}

std::uint64_t trapped_clock_bytes(std::uint64_t ip) {
  const Place* place = trapped_at(ip);
  return place != nullptr && place->instruction != InputInstruction::kCpuid ? bytes_of(place->instruction) : 0;
}

bool emulate_cpuid(KernelContext& context) {
  auto& r = context.registers;
  const Place* place = trapped_at(r.rip);
  if (place == nullptr || place->instruction != InputInstruction::kCpuid) return false;
  arm();
  std::uint64_t values[4];
  logged_answer(r.rax, r.rcx, values);
  r.rax = values[0];
  r.rbx = values[1];
  r.rcx = values[2];
  r.rdx = values[3];
  r.rip += bytes_of(place->instruction);
  arm();
  return true;
}

void show_clock_fault(const KernelContext& context, int& number, const void*& info) {
  static const std::uint64_t protection[16] = {SIGSEGV, SI_KERNEL};  // si_signo and si_errno, si_code; no address
  const std::uint64_t ip = context.registers.rip;
  const bool reads = in_stub(ip) || trapped_clock_bytes(ip) != 0;
  if (number != SIGILL || self().tsc_faults == 0 || !reads) return;
  number = SIGSEGV;
  info = protection;
}

}  // namespace reweave::core

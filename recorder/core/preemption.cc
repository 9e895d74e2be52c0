#include "recorder/core/preemption.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/checksum.h"
#include "recorder/core/code_trap.h"
#include "recorder/core/countdown.h"
#include "recorder/core/log.h"
#include "recorder/core/patching.h"
#include "recorder/core/register_trap.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kStackWindow = 256;
constexpr std::uint64_t kNamedFlags = 0x4c1 | 0x800;                // carry, zero, sign, direction, overflow
constexpr std::uint64_t kVectorsOffset = 160, kVectorsBytes = 256;  // xmm0..15 in the floating-point state
constexpr std::uint64_t kMostMemory = 512 << 20;  // private and writable, that is hashed to name a loop

struct CodeRange {
  std::uint64_t start, end;
};
constexpr std::uint32_t kMaxShimRanges = 8;
CodeRange shim_ranges[kMaxShimRanges];
std::uint32_t shim_range_count;

// Replay: the one breakpoint of this process; only the baton holder runs into it. Once it was reached it may be a quick
// one.
struct Breakpoint {
  CodeTrap trap;
  RegisterTrap quick;
  bool tried;          // it cannot be quick
  bool stepping;       // the original instruction is being executed
  std::uint64_t hits;  // without having been the instant
};
Breakpoint breakpoint;

// Addresses of our own memory depend on how a run is carried out.
std::uint64_t without_ours(std::uint64_t word) { return word >= kCoreBase && word < kOursEnd ? 0 : word; }

std::uint64_t word_at(std::uint64_t address) {
  std::uint64_t word;
  memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

std::uint64_t hash_words(std::uint64_t hash, std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t at = start; at + 8 <= end; at += 8) hash = mix(hash, without_ours(word_at(at)));
  return hash;
}

std::uint64_t hash_registers(const KernelRegisters& r) {
  std::uint64_t hash = r.eflags & kNamedFlags;
  for (std::uint64_t word :
       {r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rdi, r.rsi, r.rbp, r.rbx, r.rdx, r.rax, r.rcx, r.rsp})
    hash = mix(hash, without_ours(word));
  return hash;
}

std::uint64_t hash_vectors(const KernelRegisters& r) {
  if (r.fp_state == 0) return 0;
  return hash_words(0, r.fp_state + kVectorsOffset, r.fp_state + kVectorsOffset + kVectorsBytes);
}

std::uint64_t hash_stack(std::uint64_t sp) {
  const Region* region = region_at(sp);
  if (region == nullptr) return 0;
  const std::uint64_t end = region->accessible_end();
  return hash_words(0, sp, end - sp < kStackWindow ? end : sp + kStackWindow);
}

// Lets another thread run, as at a schedule point, then delivers what is due.
void give_way(KernelContext& context) {
  PendingOp op = {};
  op.kind = OpKind::kOther;
  op.pc = context.registers.rip;
  yield_point(op);
  context.registers.rip = where_moved(context.registers.rip);  // others may have patched meanwhile
  deliver_signals(context, false, 0);
}

const wire::PreemptRecord* next_preemption() {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kPreempt)) return nullptr;
  return record->thread == self().id ? reinterpret_cast<const wire::PreemptRecord*>(record) : nullptr;
}

std::uint32_t protection_of(std::uint64_t address) {
  const Region* region = region_at(address);
  return region == nullptr ? 0 : region->prot;
}

void plant(std::uint64_t address) {
  breakpoint = {};
  if (!breakpoint.trap.plant(address)) diverged("has no code where it was preempted", peek_record());
}

void remove_breakpoint() {
  breakpoint.quick.remove();
  breakpoint.trap.remove();
  breakpoint = {};
}

struct NamedWords {
  const wire::NamedWord* first;
  std::uint64_t count;
  const wire::NamedWord* begin() const { return first; }
  const wire::NamedWord* end() const { return first + count; }
};

NamedWords words_of(const wire::PreemptRecord& record) {
  return {reinterpret_cast<const wire::NamedWord*>(&record + 1),
          (record.header.bytes - sizeof record) / sizeof(wire::NamedWord)};
}

bool words_equal(const wire::PreemptRecord& record) {
  for (const wire::NamedWord& word : words_of(record))
    if ((protection_of(word.address) & PROT_READ) == 0 || word_at(word.address) != word.value) return false;
  return true;
}

void store_word(std::uint64_t address, std::uint64_t value) {
  memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

std::uint64_t hashed_bytes() {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < regions().count; i++) {
    const Region& region = regions().items[i];
    if (is_hashed(region, HashedMemory::kOfTree)) bytes += region.end - region.start;
  }
  return bytes;
}

// Hash of memory while the words of `record` are 0; never 0. Their addresses must be writable.
std::uint64_t hash_without(const NamedWords& words) {
  std::uint64_t saved[LoopChanges::kMaxWords];
  std::uint32_t n = 0;
  for (const wire::NamedWord& word : words) {
    saved[n++] = word_at(word.address);
    store_word(word.address, 0);
  }
  const std::uint64_t hash = hash_memory(HashedMemory::kOfTree) | 1;
  n = 0;
  for (const wire::NamedWord& word : words) store_word(word.address, saved[n++]);
  return hash;
}

// Of a thread that computes: memory is as it was. A trace's own functions leave other values on the stack where the
// program has none; registers and words must do then.
bool is_same_turn(const wire::PreemptRecord& record) {
  if (record.varying != wire::kComputes || record.memory == 0 || tracing()) return true;
  return words_of(record).count <= LoopChanges::kMaxWords && hash_without(words_of(record)) == record.memory;
}

bool is_the_instant(const KernelContext& context, const wire::PreemptRecord& record) {
  return instant_of(context) == Instant{record.ip, record.registers, record.stack, record.vectors} &&
         words_equal(record) && is_same_turn(record);
}

// True if the thread is in the recorded loop, before or after the recorded iteration.
bool in_the_loop(KernelContext& context, const wire::PreemptRecord& record) {
  if (record.varying == wire::kComputes || record.memory == 0) return false;
  if (words_of(record).count > LoopChanges::kMaxWords) return false;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) {
    const std::uint64_t value = without_ours(general_register(context.registers, i));
    if ((record.varying >> i & 1) == 0 && value != without_ours(record.general[i])) return false;
  }
  if (instant_of(context).vectors != record.vectors) return false;
  for (const wire::NamedWord& word : words_of(record))
    if ((protection_of(word.address) & PROT_WRITE) == 0) return false;
  return tracing() || hash_without(words_of(record)) == record.memory;
}

void jump_to_iteration(KernelContext& context, const wire::PreemptRecord& record) {
  KernelRegisters& r = context.registers;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++)
    if ((record.varying >> i & 1) != 0) general_register(r, i) = record.general[i];
  r.eflags = (r.eflags & ~kNamedFlags) | (record.general[kGeneralRegisters] & kNamedFlags);
  for (const wire::NamedWord& word : words_of(record)) store_word(word.address, word.value);
}

// True if this is the instant, or has been made to be. Memory is compared at hits 1, 2, 4, ... only.
bool reaches_the_instant(KernelContext& context, const wire::PreemptRecord& record) {
  if (step_of(self()) != record.step) return false;
  if (is_the_instant(context, record)) return true;
  const std::uint64_t hits = ++breakpoint.hits;
  if ((hits & (hits - 1)) != 0 || !in_the_loop(context, record)) return false;
  jump_to_iteration(context, record);
  return true;
}

}  // namespace

Instant instant_of(const KernelContext& context) {
  const KernelRegisters& r = context.registers;
  return {r.rip, hash_registers(r), hash_stack(r.rsp), hash_vectors(r)};
}

bool nameable(std::uint64_t ip) {
  if (in_core(ip) || region_at(ip) == nullptr || is_patched(ip)) return false;
  for (std::uint32_t i = 0; i < shim_range_count; i++)
    if (ip >= shim_ranges[i].start && ip < shim_ranges[i].end) return false;
  const auto* code = reinterpret_cast<const std::uint8_t*>(ip);
  const bool pushes_flags = code[0] == 0x9c;
  const bool system_call = code[0] == 0x0f && code[1] == 0x05;
  return !pushes_flags && !system_call;
}

void note_shim(const char* path, std::uint64_t start, std::uint64_t end) {
  if (!starts_with(base_name(path), "libreweave") || shim_range_count == kMaxShimRanges) return;
  shim_ranges[shim_range_count++] = {start, end};
}

std::uint64_t& general_register(KernelRegisters& registers, std::uint32_t i) {
  return reinterpret_cast<std::uint64_t*>(&registers)[i];
}

std::uint64_t memory_around(const LoopChanges& changes) {
  if (hashed_bytes() > kMostMemory) return 0;
  wire::NamedWord words[LoopChanges::kMaxWords];
  for (std::uint32_t i = 0; i < changes.count; i++) words[i] = {changes.words[i], 0};
  return hash_without({words, changes.count});
}

void preempt(KernelContext& context, const LoopChanges& changes) {
  const Instant instant = instant_of(context);
  const std::uint64_t step = settled_step();
  wire::NamedWord words[LoopChanges::kMaxWords];
  for (std::uint32_t i = 0; i < changes.count; i++) words[i] = {changes.words[i], word_at(changes.words[i])};
  // A loop that changes no word comes to this very instant again: nothing else has to be known of it.
  // A thread that computes may come here with these registers at another turn, and other memory.
  const bool comes_again = changes.known && changes.count == 0;
  const std::uint64_t memory = comes_again ? 0 : memory_around(changes);
  RecordWriter record(wire::RecordKind::kPreempt, self().id, sizeof(wire::PreemptRecord),
                      changes.count * sizeof(wire::NamedWord));
  auto& body = record.body<wire::PreemptRecord>();
  body.step = step;
  body.ip = instant.ip;
  body.registers = instant.registers;
  body.stack = instant.stack;
  body.vectors = instant.vectors;
  body.memory = memory;
  body.varying = changes.known ? changes.varying : wire::kComputes;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) body.general[i] = general_register(context.registers, i);
  body.general[kGeneralRegisters] = context.registers.eflags & kNamedFlags;
  record.append(words, changes.count * sizeof words[0]);
  record.commit();
  give_way(context);
}

void watch_for_preemption() {
  const wire::PreemptRecord* record = next_preemption();
  const std::uint64_t wanted = record == nullptr ? 0 : record->ip;
  if (wanted == (breakpoint.quick.planted() ? breakpoint.quick.address() : breakpoint.trap.address)) return;
  remove_breakpoint();
  if (wanted != 0) plant(wanted);
}

namespace {

// The recorded instant, or what was made to be it.
void preempt_again(KernelContext& context) {
  remove_breakpoint();
  consume_record();
  give_way(context);
}

bool is_due(KernelContext& context) {
  const wire::PreemptRecord* record = next_preemption();
  return record != nullptr && reaches_the_instant(context, *record);
}

// A loop that is known is not run through: the trap makes the instant (jump_to_iteration).
bool make_quick(KernelContext& context) {
  const wire::PreemptRecord* record = next_preemption();
  if (record == nullptr || record->varying != wire::kComputes) return false;
  breakpoint.trap.remove();
  if (breakpoint.quick.plant(context.registers, record->general)) return true;
  plant(context.registers.rip);
  return false;
}

bool on_quick(KernelContext& context) {
  KernelRegisters& r = context.registers;
  if (!breakpoint.quick.hit(r.rip)) return false;
  r.rip = breakpoint.quick.address();
  if (is_due(context))
    preempt_again(context);
  else
    r.rip = breakpoint.quick.go_on();
  return true;
}

}  // namespace

bool on_breakpoint(KernelContext& context) {
  KernelRegisters& r = context.registers;
  if (on_quick(context)) return true;
  if (breakpoint.trap.address == 0) return false;
  if (breakpoint.stepping) {
    abandon_step_over(context);
    return true;
  }
  if (!breakpoint.trap.hit(r.rip)) return false;
  r.rip--;
  if (is_due(context)) {
    preempt_again(context);
    return true;
  }
  if (!breakpoint.tried && make_quick(context)) return true;
  breakpoint.tried = true;
  breakpoint.trap.lift();
  breakpoint.stepping = true;
  r.eflags |= kTrapFlag;
  return true;
}

void abandon_step_over(KernelContext& context) {
  const std::uint64_t origin = breakpoint.quick.origin(context.registers.rip);
  if (origin != 0) {
    const std::uint64_t address = breakpoint.quick.address();
    breakpoint.quick.remove();
    plant(address);
    breakpoint.tried = true;
    context.registers.rip = origin;
  }
  if (!breakpoint.stepping) return;
  breakpoint.stepping = false;
  context.registers.eflags &= ~kTrapFlag;
  breakpoint.trap.set_again();
}

}  // namespace reweave::core

#include "recorder/core/code/counted_loops.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/instruction.h"
#include "recorder/core/code/jump_tables.h"
#include "recorder/core/code/moved_code.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/counted_loop.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kStubBytes = kLoopStubBytes;
constexpr std::uint8_t kHalt[] = {0xf4};  // privileged, so it faults
constexpr std::uint8_t kInt3 = 0xcc;      // a debugger's
constexpr std::uint64_t kArithmeticFlags = 0x8d5;

constexpr std::uint8_t kCount[] = {0x65, 0x48, 0x83, 0x2c, 0x25};  // subq $1, %gs:..
constexpr std::uint8_t kOne[] = {1};
constexpr std::uint8_t kIfNegative[] = {0x0f, 0x88};                  // js
constexpr std::uint8_t kStoreRax[] = {0x65, 0x48, 0x89, 0x04, 0x25};  // mov %rax, %gs:..
constexpr std::uint8_t kLoadRax[] = {0x65, 0x48, 0x8b, 0x04, 0x25};   // mov %gs:.., %rax
constexpr std::uint8_t kKeepFlags[] = {0x9f, 0x0f, 0x90, 0xc0};       // lahf; seto %al
constexpr std::uint8_t kSetFlags[] = {0x04, 0x7f, 0x9e};              // add $127, %al; sahf

}  // namespace

static_assert(sizeof CountedLoop::original >= kJumpBytes + kLongestInstruction && kMostCovered == kJumpBytes);

extern "C" {
[[gnu::visibility("hidden")]] CountedLoop core_counted_loops[kMaxLoops];
[[gnu::visibility("hidden")]] std::uint32_t core_counted_loop_count;
}

namespace {

auto& loops = core_counted_loops;
auto& loop_count = core_counted_loop_count;

bool in_place(const CountedLoop& loop) {
  if (loop.start == 0 || code_region(loop.start) == nullptr) return false;
  const std::uint8_t there = *code_at(loop.start);
  if (loop.has_trap == 0) return there == kJump[0];
  return there == kHalt[0] || there == kInt3 || there == loop.original[0];
}

CountedLoop* loop_from(std::uint64_t start) {
  for (std::uint32_t i = 0; i < loop_count; i++)
    if (loops[i].start == start && in_place(loops[i])) return &loops[i];
  return nullptr;
}

template <std::size_t n>
void put_with(Assembler& code, const std::uint8_t (&instruction)[n], std::uint32_t offset) {
  code.put(instruction);
  code.copy(reinterpret_cast<std::uint64_t>(&offset), sizeof offset);
}

void put_restore(Assembler& code) {
  code.put(kSetFlags);
  put_with(code, kLoadRax, offsetof(Thread, shelved));
}

// Counts with a single instruction, because a signal between two would find the count half done.
void write_stub(CountedLoop& loop, const JumpWindow& window, std::uint64_t stub) {
  Assembler code(stub);
  if (loop.keeps_flags) put_with(code, kStoreRax, offsetof(Thread, shelved));
  if (loop.keeps_flags) code.put(kKeepFlags);
  put_with(code, kCount, offsetof(Thread, countdown));
  code.put(kOne);
  Assembler if_spent = code;
  code.put(kIfNegative, 0);
  if (loop.keeps_flags) put_restore(code);
  for (std::uint32_t i = 0; i < window.count; i++) {
    const Moved moved = move_instruction(code, window.starts[i]);
    loop.moved[i] = {moved.from, moved.to};
  }
  code.put(kJump, loop.start + loop.covers);
  loop.behind = code.at();
  move_instruction(code, loop.start);
  code.put(kJump, loop.start + decode(code_at(loop.start)).bytes);
  if_spent.put(kIfNegative, code.at());
  if (loop.keeps_flags) put_restore(code);
  loop.spent = code.at();
  code.put(kHalt);
}

bool write_code(const CountedLoop& loop, bool with_trap) {
  const Writable code(loop.start, loop.covers);
  if (!code.done()) return false;
  memcpy(reinterpret_cast<void*>(loop.start), loop.original, loop.covers);
  if (with_trap) Assembler(loop.start).put(kHalt);
  return true;
}

void trap_instead(CountedLoop& loop) {
  if (in_place(loop) && !loop.has_trap && write_code(loop, true)) loop.has_trap = 1;
}

void trap_all_instead() {
  for (std::uint32_t i = 0; i < loop_count; i++) trap_instead(loops[i]);
}

bool is_debugged() {
  return config().patch_calls == 0 && arena().status.event.load(std::memory_order_relaxed) >= config().stop_event;
}

const Region* countable_region(std::uint64_t address) {
  const Region* region = code_region(address);
  return region != nullptr && region->of_file ? region : nullptr;
}

bool plant(std::uint64_t address) {
  const Region* region = countable_region(address);
  JumpWindow window;
  if (region == nullptr || loop_count == kMaxLoops || !window.find(address, *region)) return false;
  const std::uint64_t stub = new_stub(address, kStubBytes);
  if (stub == 0 || !window.reaches(stub, kStubBytes)) return false;
  CountedLoop& loop = loops[loop_count];
  loop = {};
  loop.start = address;
  loop.covers = window.bytes;
  loop.stub = stub;
  loop.count = window.count;
  loop.keeps_flags = !replaces_flags(code_at(address));
  memcpy(loop.original, code_at(address), window.bytes);
  {
    const Writable room(stub, kStubBytes);
    if (!room.done()) return false;
    write_stub(loop, window, stub);
  }
  if (!write_jump(address, stub)) return false;
  loop_count++;
  before_debugger = trap_all_instead;
  if (is_debugged()) trap_instead(loop);
  return true;
}

bool is_in(const CountedLoop& loop, std::uint64_t ip) { return ip >= loop.start && ip < loop.start + loop.covers; }

}  // namespace

bool can_be_counted(std::uint64_t address, bool alone) {
  const Region* region = countable_region(address);
  JumpWindow window;
  if (region == nullptr || loop_count == kMaxLoops || !window.find(address, *region)) return false;
  return window.count == 1 || (!alone && !window.is_entered(*region) && !window.is_in_table(*region));
}

void note_counted_loop(std::uint64_t address) {
  if (!live() || config().patch_calls == 0 || process().catches_all.load() != 0) return;
  if (!can_be_counted(address, false) || !plant(address)) return;
  RecordWriter record(wire::RecordKind::kPatch, self().id, sizeof(wire::PatchRecord), 0);
  record.body<wire::PatchRecord>().address = address | wire::kPatchedLoop;
  record.commit();
}

void follow_recorded_loop() {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kPatch)) return;
  const std::uint64_t address = wire::record_cast<wire::PatchRecord>(*record).address;
  if (record->thread != self().id || (address & wire::kPatchedLoop) == 0) return;
  if (!plant(address & ~wire::kPatchedLoop)) diverged("counts where there is no such code", record);
  consume_record();
}

CountedPoint counted_point_at(std::uint64_t trap_ip) {
  for (std::uint32_t i = 0; i < loop_count; i++) {
    if (loops[i].spent == trap_ip && loops[i].start != 0) return {loops[i].start, true};
    if (loops[i].start == trap_ip && loops[i].has_trap && in_place(loops[i])) return {trap_ip, false};
  }
  return {0, false};
}

std::uint64_t address_after_count(std::uint64_t start) {
  const CountedLoop* loop = loop_from(start);
  if (loop == nullptr) return start;
  return loop->has_trap ? loop->behind : loop->moved[0].to;
}

bool debugger_counts(std::uint64_t start) {
  const CountedLoop* loop = loop_from(start);
  return loop != nullptr && loop->has_trap != 0 && *code_at(start) != kHalt[0];
}

std::uint64_t flags_not_kept(std::uint64_t start) {
  const CountedLoop* loop = loop_from(start);
  return loop == nullptr || loop->keeps_flags ? 0 : kArithmeticFlags;
}

std::uint64_t where_counted(std::uint64_t ip) {
  for (std::uint32_t i = 0; i < loop_count; i++) {
    if (ip == loops[i].start || !is_in(loops[i], ip) || loops[i].has_trap || !in_place(loops[i])) continue;
    for (std::uint32_t k = 1; k < loops[i].count; k++)
      if (loops[i].moved[k].from == ip) return loops[i].moved[k].to;
  }
  return ip;
}

bool is_counted(std::uint64_t ip) {
  for (std::uint32_t i = 0; i < loop_count; i++)
    if (is_in(loops[i], ip) && in_place(loops[i])) return true;
  return false;
}

bool is_counted_near(std::uint64_t ip) {
  constexpr std::uint64_t kNear = 128;  // bytes of code
  if (in_stub(ip)) return true;
  for (std::uint32_t i = 0; i < loop_count; i++)
    if (ip + kNear > loops[i].start && ip < loops[i].start + kNear && in_place(loops[i])) return true;
  return false;
}

std::uint64_t put_back_counted(std::uint64_t ip) {
  if (!in_stub(ip)) return ip;
  for (std::uint32_t i = 0; i < loop_count; i++) {
    CountedLoop& loop = loops[i];
    std::uint64_t from = ip == loop.behind ? loop.moved[0].from : 0;
    for (std::uint32_t k = 0; k < loop.count; k++)
      if (loop.moved[k].to == ip) from = loop.moved[k].from;
    if (from == 0) continue;
    remove_counted(from, from + 1);
    return from;
  }
  return ip;
}

void count_without_debugger() {
  for (std::uint32_t i = 0; i < loop_count; i++)
    if (loops[i].has_trap != 0 && in_place(loops[i])) write_code(loops[i], true);
}

void remove_counted(std::uint64_t start, std::uint64_t end) {
  for (std::uint32_t i = 0; i < loop_count; i++) {
    CountedLoop& loop = loops[i];
    if (loop.start + loop.covers <= start || loop.start >= end || !in_place(loop)) continue;
    write_code(loop, false);
    loop.start = 0;
  }
}

}  // namespace reweave::core

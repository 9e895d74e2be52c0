#include "recorder/core/code/patching.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/code/clock_window.h"
#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/counted_loops.h"
#include "recorder/core/code/sleds.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/processor/tsc.h"

extern "C" __attribute__((visibility("hidden"))) void api_clock();  // entry.S

namespace reweave::core {

namespace {

constexpr std::uint32_t kHot = 12;  // executions of a site before it is patched; patching costs as much as a dozen
// Executions until another caller is tried. A prime number, because callers may take turns.
constexpr std::uint32_t kRetry = 5;
constexpr std::uint32_t kNever = 1 << 30;  // hits of a site that cannot be patched
constexpr std::uint64_t kStubBytes = 64, kClockStubBytes = 192;
// Used instead of a call number: the site reads the time stamp counter, or is a `pause`.
constexpr long kClockRead = -1, kPause = -2;
constexpr std::uint64_t kPauseBytes = 2;
constexpr std::uint8_t kHalt =
    0xf4;  // replaces the second byte: privileged; a debugger may set a breakpoint on the first

constexpr std::uint64_t kMaxPatchBytes = 32;

struct Site {
  // After the `syscall`, `rdtsc` or `rdtscp` instruction, or after the call of a function that is copied; 0: a free
  // entry.
  std::uint64_t after;
  std::uint32_t hits;
  std::uint32_t covers;  // bytes of the patch, from `start`
  std::uint64_t start;   // of the patch; 0: there is none
  std::uint8_t original[kMaxPatchBytes];
  std::uint64_t stub;    // to which the patch leads
  std::uint64_t copied;  // the function of which the stub is a copy; 0: none
  std::uint64_t resume;  // where the stub continues after the call
  std::uint64_t moved;   // the stub's copy of the code that was at `after`; 0: it is in place or among `moves`
  std::uint32_t count;   // of `moves`; only around a clock read
  Moved moves[kJumpBytes];
};

constexpr std::uint32_t kSites = 1024;  // a power of two
Site sites[kSites];
std::uint32_t site_count;
std::uint64_t trap;

// The entry of `after`, or the free entry where it belongs.
Site& entry_of(std::uint64_t after) {
  std::uint32_t i = static_cast<std::uint32_t>(mix(0, after)) % kSites;
  while (sites[i].after != 0 && sites[i].after != after) i = (i + 1) % kSites;
  return sites[i];
}

// The entry of `after`, created if necessary; null if there is no room.
Site* admit(std::uint64_t after) {
  Site& site = entry_of(after);
  if (site.after == after) return &site;
  if (site_count == kSites / 2) return nullptr;
  site_count++;
  site.after = after;
  return &site;
}

// True if the patch of `site` is still there: the file may have been unmapped and another one mapped.
bool in_place(const Site& site) {
  if (site.start == 0 || code_region(site.start) == nullptr) return false;
  return site.covers == kPauseBytes ? code_at(site.start)[1] == kHalt : jumps_to(site.start, site.stub);
}

// Finds the code around the call that a jump may replace: sets the patch's start and length, or leaves 0.
void find_room(Site& site, long number, const Region& region) {
  const std::uint64_t call = site.after - kSyscallBytes;
  if (call - kJumpBytes > region.start && is_move(call - kJumpBytes, number)) {
    site.start = call - kJumpBytes;
    site.covers = kJumpBytes;
    return;
  }
  if (site.after + 8 > region.end) return;
  const std::uint64_t compare = compare_bytes(site.after);
  if (compare == 0 || is_jumped_to(site.after, region)) return;
  site.start = call;
  site.covers = static_cast<std::uint32_t>(kSyscallBytes + compare);
}

constexpr std::uint8_t kLoadRcx[] = {0x48, 0x8d, 0x0d};  // lea distance(%rip), %rcx
constexpr std::uint8_t kLoadR11[] = {0x4c, 0x8d, 0x1d};
constexpr std::uint8_t kEnterCore[] = {0x65, 0xff, 0x24, 0x25, offsetof(Thread, call_entry), 0, 0, 0};  // jmp *%gs:..
constexpr std::uint8_t kTrap[] = {0x0f, 0x05, 0x0f, 0x0b};                                              // syscall; ud2

constexpr std::uint8_t kLoadRax[] = {0x48, 0x8d, 0x05};   // lea distance(%rip), %rax
constexpr std::uint8_t kSetRdx[] = {0x48, 0xba};          // movabs $8 bytes, %rdx
constexpr std::uint8_t kJumpRdx[] = {0xff, 0xe2};         // jmp *%rdx
constexpr std::uint8_t kClearRcx[] = {0xb9, 0, 0, 0, 0};  // mov $0, %ecx
constexpr std::uint8_t kReadClock[] = {0x90, 0x0f, 0x31, 0x0f, 0x01, 0xf9};
constexpr std::uint8_t kTrapClock[] = {0x90, 0x0f, kPrivilegedOpcode, 0x0f, kPrivilegedOpcode, 0xf9};
constexpr std::uint64_t kClockHeadBytes = sizeof kLoadRax + 4 + sizeof kSetRdx + 8 + sizeof kJumpRdx;

// rax and rdx, which the instruction overwrites anyway, carry the addresses for the jump to the core. The core
// continues after the instruction or, if the program wants the fault, kClockInstructionBytes earlier, at the
// instruction.
void write_clock_stub(Site& site, std::uint64_t stub, const ClockWindow& window, std::uint64_t bytes) {
  const auto entry = reinterpret_cast<std::uint64_t>(&api_clock);
  Assembler code(stub);
  site.count = window.count;
  for (std::uint32_t i = 0; i < window.before; i++) site.moves[i] = move_instruction(code, window.starts[i]);
  site.resume = code.at() + kClockHeadBytes + kClockInstructionBytes;
  code.put(kLoadRax, site.resume);
  code.put(kSetRdx);
  code.copy(reinterpret_cast<std::uint64_t>(&entry), sizeof entry);
  code.put(kJumpRdx);
  const std::uint8_t* faults = state().clock_reads_pass != 0 ? kTrapClock : kReadClock;
  code.copy(reinterpret_cast<std::uint64_t>(bytes == 2 ? faults : faults + 3), kClockInstructionBytes);
  if (bytes == 3) code.put(kClearRcx);
  for (std::uint32_t i = window.before; i < window.count; i++) site.moves[i] = move_instruction(code, window.starts[i]);
  code.put(kJump, window.end);
}

// Writes the stub for a read of `read_bytes`. `patched` is the code from which a jump or call leads to it.
bool lead_to_clock_stub(Site& site, std::uint64_t patched, std::uint64_t patched_bytes, const std::uint8_t (&opcode)[1],
                        const ClockWindow& window, std::uint64_t read_bytes) {
  if (window.count > kJumpBytes || patched_bytes > sizeof site.original) return false;
  const std::uint64_t stub = new_stub(patched, kClockStubBytes);
  if (stub == 0) return false;
  site.start = patched;
  site.covers = static_cast<std::uint32_t>(patched_bytes);
  site.stub = stub;
  site.moved = 0;
  {
    const Writable page(stub, kClockStubBytes);
    if (!page.done()) return false;
    write_clock_stub(site, stub, window, read_bytes);
  }
  memcpy(site.original, code_at(patched), patched_bytes);
  return write_jump(patched, stub, opcode);
}

// Makes the call from which the thread came a call of a copy of the function.
bool patch_call(const ClockFunction& function, std::uint64_t read_bytes) {
  Site* site = admit(function.call + kJumpBytes);
  if (site == nullptr || in_place(*site)) return false;
  site->copied = function.window.start;
  const bool patched = lead_to_clock_stub(*site, function.call, kJumpBytes, kCall, function.window, read_bytes);
  if (!patched) site->start = 0;
  site->resume = site->after;  // a thread that returns there has left the stub
  return patched;
}

bool patch_clock(Site& site, const Region& region, const KernelRegisters& registers) {
  const std::uint64_t longer = site.after - 3;
  const std::uint64_t bytes = clock_bytes(longer) == 3 || trapped_clock_bytes(longer) == 3 ? 3 : 2;
  const std::uint64_t start = site.after - bytes;
  const ClockWindow window = find_clock_window(start, site.after, registers, region);
  if (window.start != 0) return lead_to_clock_stub(site, window.start, window.end - window.start, kJump, window, bytes);
  const ClockFunction function = find_clock_function(start, site.after, registers, region);
  return function.call != 0 && patch_call(function, bytes);
}

std::uint64_t resume_of(const Site& site, std::uint64_t stub) {
  constexpr std::uint64_t kEntryBytes = sizeof kLoadRcx + sizeof kLoadR11 + 2 * 4 + sizeof kEnterCore;
  return site.start == site.after - kSyscallBytes ? stub + kEntryBytes : site.after;
}

// rcx and r11, which a call overwrites anyway, carry the address of the call and the address to continue at.
void write_call_stub(Site& site, std::uint64_t stub) {
  const bool compares = site.start == site.after - kSyscallBytes;
  site.resume = resume_of(site, stub);
  site.moved = compares ? site.resume : 0;
  const std::uint64_t compare = site.covers - kSyscallBytes;
  Assembler code(stub);
  if (!compares) code.copy(site.start, kJumpBytes);
  code.put(kLoadRcx, site.after);
  code.put(kLoadR11, site.resume);
  code.put(kEnterCore);
  if (!compares) return;
  code.copy(site.after, compare);
  code.put(kJump, site.after + compare);
}

bool have_trap() {
  if (trap != 0) return true;
  const std::uint64_t place = new_stub(mmap_top(program_slot()), kStubBytes);
  if (place == 0) return false;
  const Writable page(place, sizeof kTrap);
  if (!page.done()) return false;
  Assembler(place).put(kTrap);
  trap = place;
  return true;
}

const Region* patchable_region(std::uint64_t address) {
  const Region* region = code_region(address);
  return region != nullptr && region->of_file ? region : nullptr;
}

bool trap_pause(Site& site) {
  const std::uint64_t start = site.after - kPauseBytes;
  const Writable page(start, kPauseBytes);
  if (!page.done() || !is_pause(start)) return false;
  site.start = start;
  site.covers = kPauseBytes;
  site.resume = site.after;
  site.moved = 0;
  memcpy(site.original, code_at(start), kPauseBytes);
  *reinterpret_cast<std::uint8_t*>(start + 1) = kHalt;
  return true;
}

bool patch(Site& site, long number, const KernelRegisters* registers) {
  const Region* region = patchable_region(site.after - kSyscallBytes);
  site.count = 0;
  site.copied = 0;
  if (region == nullptr) return false;
  if (number == kPause) return trap_pause(site);
  if (number == kClockRead) return patch_clock(site, *region, *registers);
  find_room(site, number, *region);
  if (site.start == 0 || !have_trap()) return false;
  const std::uint64_t stub = new_stub(site.start, kStubBytes);
  if (stub == 0) return false;
  {
    const Writable page(stub, kStubBytes);
    if (!page.done()) return false;
    write_call_stub(site, stub);
  }
  if (site.covers > sizeof site.original) return false;
  memcpy(site.original, code_at(site.start), site.covers);
  site.stub = stub;
  return write_jump(site.start, stub);
}

constexpr KernelRegisters kUnknown = {};

// True if the read of the clock may be all of a function: the next thread may come from a call that can be patched.
bool has_other_callers(const Site& site, long number) {
  return number == kClockRead && patchable_region(site.after) != nullptr && is_at(site.after, kReturn);
}

// Without `registers`, callers are not known.
bool patch_or_give_up(Site& site, long number, const KernelRegisters* registers = &kUnknown) {
  site.start = 0;
  if (patch(site, number, registers)) return true;
  site.start = 0;
  site.hits = registers != &kUnknown && has_other_callers(site, number) ? kHot - kRetry : kNever;
  return false;
}

void log_patch(std::uint64_t address) {
  RecordWriter record(wire::RecordKind::kPatch, self().id, sizeof(wire::PatchRecord), 0);
  record.body<wire::PatchRecord>().address = address;
  record.commit();
}

void follow_recorded_patch(std::uint64_t after, long number, const KernelRegisters* registers) {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kPatch)) return;
  if (record->thread != self().id || wire::record_cast<wire::PatchRecord>(*record).address != after)
    diverged("made a system call elsewhere", record);
  Site* site = admit(after);
  if (site == nullptr) diverged("has too many patches already", record);
  consume_record();
  if (config().patch_calls != 0) patch_or_give_up(*site, number, registers);
}

void tell_server(std::uint64_t after, long number) {
  RuntimeState& s = state();
  if (process().executed_in_run != 0) return;  // the server has other code there
  for (std::uint32_t i = 0; i < s.trapped_count; i++)
    if (s.trapped[i].after == after) return;
  if (s.trapped_count < kMaxTrappedSites) s.trapped[s.trapped_count++] = {after, number};
}

// Makes the whole mapping writable, not just one page: splitting the mapping would cost every run's fork more than the
// signals do.
void patch_for_runs(const TrappedSite& trapped) {
  Site* site = admit(trapped.after);
  if (site == nullptr || in_place(*site) || site->hits >= kNever) return;
  const Region* region = patchable_region(trapped.after - kSyscallBytes);
  if (region == nullptr) return;
  const Writable all(region->start, region->end - region->start);
  if (all.done()) patch_or_give_up(*site, trapped.number);
}

}  // namespace

void patch_trapped_sites(const TrappedSite* trapped, std::uint32_t count) {
  if (config().patch_calls == 0) return;
  for (std::uint32_t i = 0; i < count && i < kMaxTrappedSites; i++) patch_for_runs(trapped[i]);
}

namespace {

void note_site(std::uint64_t after, long number, const KernelRegisters* registers) {
  if (replaying()) return follow_recorded_patch(after, number, registers);
  if (modelled()) return tell_server(after, number);
  if (!live() || config().patch_calls == 0 || process().catches_all.load() != 0) return;
  Site* site = admit(after);
  if (site == nullptr || in_place(*site)) return;  // in place: the thread jumped over the patch
  if (++site->hits < kHot || site->hits >= kNever) return;
  site->hits = 0;
  if (patch_or_give_up(*site, number, registers)) log_patch(site->after);
}

}  // namespace

void note_call_site(std::uint64_t after, long number) { note_site(after, number, &kUnknown); }

void note_clock_site(std::uint64_t after, const KernelRegisters& registers) {
  note_site(after, kClockRead, &registers);
}

void note_pause_site(std::uint64_t after) {
  if (!live() || config().patch_calls == 0 || process().catches_all.load() != 0) return;
  Site* site = admit(after);
  if (site == nullptr || in_place(*site) || site->hits >= kNever) return;
  if (patch_or_give_up(*site, kPause)) log_patch(after | wire::kPatchedPause);
}

void follow_recorded_pause() {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kPatch)) return;
  const std::uint64_t address = wire::record_cast<wire::PatchRecord>(*record).address;
  if (record->thread != self().id || (address & wire::kPatchedPause) == 0) return;
  Site* site = admit(address & ~wire::kPatchedPause);
  if (site == nullptr) diverged("has too many patches already", record);
  if (!patch_or_give_up(*site, kPause)) diverged("waits at an instruction that is not pause", record);
  consume_record();
}

std::uint64_t address_after_pause(std::uint64_t ip) {
  const Site& site = entry_of(ip + kPauseBytes);
  return site.after != 0 && site.covers == kPauseBytes && in_place(site) ? site.after : 0;
}

namespace {

// True if a change of the code from `start` to `end` concerns the patch.
bool depends_on(const Site& site, std::uint64_t start, std::uint64_t end) {
  const auto meets = [&](std::uint64_t from, std::uint64_t to) { return from < end && to > start; };
  return meets(site.start, site.start + site.covers) ||
         (site.copied != 0 && meets(site.copied, site.moves[0].from + sizeof kReturn));
}

}  // namespace

void remove_patches() { remove_patches(0, ~std::uint64_t{0}); }

void remove_patches(std::uint64_t start, std::uint64_t end) {
  remove_counted(start, end);
  disarm_sleds(start, end);
  if (site_count == 0) return;
  for (Site& site : sites) {
    if (!depends_on(site, start, end) || !in_place(site)) continue;
    const Writable page(site.start, site.covers);
    if (page.done()) memcpy(reinterpret_cast<void*>(site.start), site.original, site.covers);
    site.start = 0;
  }
}

std::uint64_t landing(std::uint64_t ip) {
  const Site& site = entry_of(ip);
  return site.after == ip && in_place(site) ? site.resume : ip;
}

std::uint64_t where_moved(std::uint64_t ip) {
  if (site_count == 0) return where_counted(ip);
  for (const Site& site : sites)
    if (site.start != 0 && site.moved != 0 && ip >= site.after && ip < site.start + site.covers)
      return in_place(site) ? site.moved + (ip - site.after) : ip;
  for (const Site& site : sites)
    for (std::uint32_t i = 0; i < site.count; i++)
      if (site.moves[i].from == ip && ip != site.start && in_place(site)) return site.moves[i].to;
  return where_counted(ip);
}

void leave_stub(KernelRegisters& registers) {
  if (!in_stub(registers.rip)) return;
  for (Site& site : sites) {
    for (std::uint32_t i = 0; i < site.count; i++) {
      if (site.moves[i].to != registers.rip) continue;
      registers.rip = site.moves[i].from;
      if (in_place(site)) remove_patches(site.start, site.start + 1);
      site.hits = kNever;
      return;
    }
  }
  registers.rip = put_back_counted(registers.rip);
}

bool is_patched(std::uint64_t ip) {
  if (site_count == 0) return is_counted(ip);
  for (const Site& site : sites)
    if (site.start != 0 && ip >= site.start && ip < site.start + site.covers) return in_place(site);
  return is_counted(ip);
}

std::uint64_t trap_address() { return trap; }

bool is_trap(const KernelContext& context) { return trap != 0 && context.registers.rip == trap + kSyscallBytes; }

}  // namespace reweave::core

#include "recorder/core/patching.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/checksum.h"
#include "recorder/core/log.h"
#include "recorder/core/stubs.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kHot = 4;          // calls of a site before it is patched
constexpr std::uint32_t kNever = 1 << 30;  // hits of a site that cannot be
constexpr std::uint64_t kSyscallBytes = 2;
constexpr std::uint64_t kStubBytes = 64;
constexpr std::uint64_t kNearby = 4096;  // how far a jump to the code after a call is looked for

struct Site {
  std::uint64_t after;  // behind the `syscall` instruction; 0: a free entry
  std::uint32_t hits;
  std::uint32_t covers;  // bytes of the patch, from `start`
  std::uint64_t start;   // of the patch; 0: there is none
  std::uint64_t resume;  // where the stub goes on after the call
};

constexpr std::uint32_t kSites = 1024;  // a power of two
Site sites[kSites];
std::uint32_t site_count;
std::uint64_t trap;

// The entry of `after`, or the free one where it belongs.
Site& entry_of(std::uint64_t after) {
  std::uint32_t i = static_cast<std::uint32_t>(mix(0, after)) % kSites;
  while (sites[i].after != 0 && sites[i].after != after) i = (i + 1) % kSites;
  return sites[i];
}

// The entry of `after`, made if there is none; null if there is no room for it.
Site* admit(std::uint64_t after) {
  Site& site = entry_of(after);
  if (site.after == after) return &site;
  if (site_count == kSites / 2) return nullptr;
  site_count++;
  site.after = after;
  return &site;
}

std::uint32_t word_at(std::uint64_t address) {
  std::uint32_t word;
  memcpy(&word, code_at(address), sizeof word);
  return word;
}

// Code of files: never written to, all of it there.
const Region* code_region(std::uint64_t address) {
  const Region* region = region_at(address);
  const bool code = region != nullptr && region->prot == (PROT_READ | PROT_EXEC) && !region->shared;
  return code && region->accessible_end() == region->end ? region : nullptr;
}

// True if `mov $number, %eax` is at `address`. After a REX prefix the same bytes move something else.
bool is_move(std::uint64_t address, long number) {
  const std::uint8_t* code = code_at(address);
  return code[0] == 0xb8 && word_at(address + 1) == static_cast<std::uint32_t>(number) && (code[-1] & 0xf0) != 0x40;
}

// Bytes of a `cmp $constant, %eax` or %rax at `address`, or 0.
std::uint64_t compare_bytes(std::uint64_t address) {
  const std::uint8_t* code = code_at(address);
  if (code[0] == 0x3d) return 5;
  return code[0] == 0x48 && code[1] == 0x3d ? 6 : 0;
}

// True if what may be a jump leads to `target` from the code around it.
bool is_jumped_to(std::uint64_t target, const Region& region) {
  const std::uint64_t from = target - region.start > kNearby ? target - kNearby : region.start;
  const std::uint64_t to = region.end - target > kNearby ? target + kNearby : region.end - 4;
  for (std::uint64_t at = from; at < to; at++) {
    const std::uint8_t opcode = *code_at(at);
    const bool is_short = opcode == 0xeb || (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0;
    if (is_short && at + 2 + static_cast<std::uint64_t>(static_cast<std::int8_t>(*code_at(at + 1))) == target)
      return true;
    if (at + 4 + static_cast<std::uint64_t>(static_cast<std::int32_t>(word_at(at))) == target) return true;
  }
  return false;
}

// What of the code before `after` a jump may replace: the patch's start and length, 0 if none.
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

// rcx and r11, which a call overwrites anyway, say where it was made and where it goes on.
void write_stub(const Site& site, std::uint64_t stub) {
  const bool compares = site.start == site.after - kSyscallBytes;
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

std::uint64_t resume_of(const Site& site, std::uint64_t stub) {
  constexpr std::uint64_t kEntryBytes = sizeof kLoadRcx + sizeof kLoadR11 + 2 * 4 + sizeof kEnterCore;
  return site.start == site.after - kSyscallBytes ? stub + kEntryBytes : site.after;
}

bool have_trap() {
  if (trap != 0) return true;
  const std::uint64_t place = new_stub(kStubAreas[0].start, kStubBytes);
  if (place == 0) return false;
  const Writable page(place, sizeof kTrap);
  if (!page.done()) return false;
  Assembler(place).put(kTrap);
  trap = place;
  return true;
}

bool patch(Site& site, long number) {
  const Region* region = code_region(site.after - kSyscallBytes);
  if (region == nullptr) return false;
  find_room(site, number, *region);
  if (site.start == 0 || !have_trap()) return false;
  const std::uint64_t stub = new_stub(site.start, kStubBytes);
  if (stub == 0) return false;
  site.resume = resume_of(site, stub);
  {
    const Writable page(stub, kStubBytes);
    if (!page.done()) return false;
    write_stub(site, stub);
  }
  return write_jump(site.start, stub);
}

// True if the patch of `site` is still there: its file may have been unmapped, and another mapped.
bool in_place(const Site& site) {
  return site.start != 0 && code_region(site.start) != nullptr && *code_at(site.start) == kJump[0];
}

void patch_or_give_up(Site& site, long number) {
  site.start = 0;
  if (patch(site, number)) return;
  site.start = 0;
  site.hits = kNever;
}

void log_patch(const Site& site) {
  RecordWriter record(wire::RecordKind::kPatch, self().id, sizeof(wire::PatchRecord), 0);
  record.body<wire::PatchRecord>().address = site.after;
  record.commit();
}

void follow_recorded_patch(std::uint64_t after, long number) {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kPatch)) return;
  if (record->thread != self().id || reinterpret_cast<const wire::PatchRecord*>(record)->address != after)
    diverged("made a system call elsewhere", record);
  Site* site = admit(after);
  if (site == nullptr) diverged("has too many patches already", record);
  consume_record();
  if (config().patch_calls != 0) patch_or_give_up(*site, number);
}

}  // namespace

void note_call_site(std::uint64_t after, long number) {
  if (replaying()) return follow_recorded_patch(after, number);
  if (!live() || config().patch_calls == 0) return;
  Site* site = admit(after);
  if (site == nullptr || in_place(*site)) return;  // in place: the jump was jumped over
  if (++site->hits < kHot || site->hits >= kNever) return;
  site->hits = 0;
  patch_or_give_up(*site, number);
  if (site->start != 0) log_patch(*site);
}

std::uint64_t landing(std::uint64_t ip) {
  const Site& site = entry_of(ip);
  return site.after == ip && in_place(site) ? site.resume : ip;
}

bool is_patched(std::uint64_t ip) {
  for (const Site& site : sites)
    if (site.start != 0 && ip >= site.start && ip < site.start + site.covers) return in_place(site);
  return false;
}

std::uint64_t trap_address() { return trap; }

bool is_trap(const KernelContext& context) { return trap != 0 && context.registers.rip == trap + kSyscallBytes; }

}  // namespace reweave::core

#include "recorder/core/code/sleds.h"

#include <sys/mman.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/instruction.h"
#include "recorder/core/code/moved_code.h"
#include "recorder/core/code/sled_tables.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/observation.h"

// entry.S
extern "C" __attribute__((visibility("hidden"))) const std::uint8_t core_sled_common[], core_sled_common_end[];

namespace reweave::core {

namespace {

constexpr std::uint64_t kStubBytes = 128;  // of each sled; the first is the code that all sleds of an object share
constexpr std::uint8_t kFsPrefix = 0x64;

// Operands are absolute offsets from the GS base.
constexpr std::uint8_t kCountPoint[] = {0x65, 0x48, 0x83, 0x2c, 0x25, offsetof(Thread, countdown), 0, 0, 0, 1};
constexpr std::uint8_t kIfNegative[] = {0x0f, 0x88};  // js
// cmpq $-1000000, the countdown: a quiet site asks now and then, as in shim/runtime.h
constexpr std::uint8_t kCompareFar[] = {0x65, 0x48, 0x81, 0x3c, 0x25, offsetof(Thread, countdown), 0, 0,
                                        0,    0xc0, 0xbd, 0xf0, 0xff};
constexpr std::uint8_t kIfLess[] = {0x0f, 0x8c};  // jl
constexpr std::uint8_t kShelveRdi[] = {0x65, 0x48, 0x89, 0x3c, 0x25, offsetof(Thread, shelved), 0, 0, 0};
constexpr std::uint8_t kUnshelveRdi[] = {0x65, 0x48, 0x8b, 0x3c, 0x25, offsetof(Thread, shelved), 0, 0, 0};
constexpr std::uint8_t kStoreAddress[] = {0x65, 0x48, 0x89, 0x3c, 0x25, offsetof(Thread, point_object), 0, 0, 0};
constexpr std::uint8_t kStoreValue[] = {0x65, 0x48, 0x89, 0x3c, 0x25, offsetof(Thread, point_operation), 0, 0, 0};
constexpr std::uint8_t kStoreEntry[] = {0x65, 0x48, 0x89, 0x3c, 0x25, offsetof(Thread, point_pc), 0, 0, 0};
constexpr std::uint8_t kLoadRdi[] = {0x48, 0x8d, 0x3d};  // lea distance(%rip), %rdi
// Turns the offset in thread-local storage in rdi into an address, without changing the flags.
constexpr std::uint8_t kAddFsBase[] = {0x65, 0x48, 0x89, 0x34, 0x25, offsetof(Thread, point_operation),
                                       0,    0,    0,  // mov %rsi, %gs:..
                                       0x64, 0x48, 0x8b, 0x34, 0x25, 0,
                                       0,    0,    0,           // mov %fs:0, %rsi
                                       0x48, 0x8d, 0x3c, 0x37,  // lea (%rdi, %rsi), %rdi
                                       0x65, 0x48, 0x8b, 0x34, 0x25, offsetof(Thread, point_operation),
                                       0,    0,    0};  // mov %gs:.., %rsi
static_assert(offsetof(Thread, shelved) == 128);        // as in entry.S; fits in the lowest byte of the 32-bit offset

SledMode mode;
const std::uint8_t* quiet_sites;  // null: there are none
std::uint64_t quiet_hash;         // hash of the table; 0: no site is quiet

bool is_quiet(std::uint64_t pc) { return quiet_hash != 0 && quiet_sites[quiet_slot(pc)] != 0; }

// 0 if no site is quiet.
std::uint64_t hash_of(const std::uint8_t* table) {
  std::uint64_t hash = 0;
  for (std::uint64_t at = 0; at < kQuietBytes; at += sizeof hash) {
    std::uint64_t word;
    memcpy(&word, table + at, sizeof word);
    if (word != 0) hash = mix(mix(hash, at), word) | 1;
  }
  return hash;
}

// Puts the operand that the instruction at `from` computes into rdi, and returns the instruction's end.
std::uint64_t put_operand(Assembler& code, std::uint64_t from) {
  move_instruction(code, from);
  if (*code_at(from) == kFsPrefix) code.put(kAddFsBase);
  return from + decode(code_at(from)).bytes;
}

// Stores the operands and the entry where reach_sled finds them, and goes to the code that all stubs share.
void put_report(Assembler& code, const SledEntry& entry, std::uint64_t common) {
  std::uint64_t operand = reinterpret_cast<std::uint64_t>(&entry + 1);
  code.put(kShelveRdi);
  if (entry.operands >= 1) {
    operand = put_operand(code, operand);
    code.put(kStoreAddress);
  }
  if (entry.operands >= 2) {
    code.put(kUnshelveRdi);
    put_operand(code, operand);
    code.put(kStoreValue);
  }
  code.put(kLoadRdi, reinterpret_cast<std::uint64_t>(&entry));
  code.put(kStoreEntry);
  code.put(kJump, common);
}

void put_count(Assembler& code, std::uint64_t behind) {
  constexpr std::uint64_t kJumpDistance = sizeof(std::int32_t);
  const bool quiet = is_quiet(behind);
  code.put(kCountPoint);
  if (quiet) code.put(kCompareFar);
  const std::uint64_t report = code.at() + sizeof kIfLess + kJumpDistance + kJumpBytes;
  quiet ? code.put(kIfLess, report) : code.put(kIfNegative, report);
  code.put(kJump, behind);
}

void write_stub(std::uint64_t stub, const SledEntry& entry, std::uint64_t common) {
  Assembler code(stub);
  if (!mode.traces) put_count(code, address_after_sled(entry));
  put_report(code, entry, common);
  if (code.at() > stub + kStubBytes) bug("a sled's stub is too long");
}

// In a run that only counts, the second access of a point has nothing to do.
bool is_wanted(const SledEntry& entry) { return mode.traces || (entry.flags & kSledSamePoint) == 0; }

std::uint64_t sled_of(const SledEntry& entry) { return address_after_sled(entry) - kSledBytes; }

bool is_sled(std::uint64_t at) { return memcmp(code_at(at), kSled, kSledBytes) == 0; }

// Calls change(entry, sled, index) for the sleds of the object, whose code is writable meanwhile.
template <typename Change>
void change_sleds(const SledObject& object, const SledTable& table, Change change) {
  constexpr std::uint32_t kMostRegions = 64;  // of an object; more than any linker makes
  const Region* found = table.end == 0 ? nullptr : region_at(object.headers);
  for (std::uint32_t i = 0; i < kMostRegions && found != nullptr && found->of_file; i++) {
    const Region region = *found;
    found = region_at(region.end);
    if (code_region(region.start) == nullptr) continue;
    const Writable code(region.start, region.end - region.start);
    if (!code.done()) continue;
    std::uint64_t index = 0;
    for_each_sled(table, [&](const SledEntry& entry) {
      const std::uint64_t sled = sled_of(entry);
      if (sled >= region.start && sled + kSledBytes <= region.end) change(entry, sled, index);
      index++;
    });
  }
}

bool have_stubs(SledObject& object, std::uint64_t near, std::uint64_t sleds) {
  const std::uint64_t bytes = (sleds + 1) * kStubBytes;
  if (object.stubs != 0 && object.stub_bytes >= bytes) return true;
  object.stubs = new_stub(near, bytes);
  object.stub_bytes = bytes;
  return object.stubs != 0;
}

void arm(SledObject& object) {
  const SledTable table = table_of(object);
  std::uint64_t sleds = 0;
  for_each_sled(table, [&](const SledEntry&) { sleds++; });
  if (sleds == 0) return;
  if (!have_stubs(object, object.headers, sleds))
    stop_run(wire::OutcomeKind::kUnsupported, "there is no memory for the stubs of this many accesses");
  const Writable stubs(object.stubs, object.stub_bytes);
  if (!stubs.done()) stop_run(wire::OutcomeKind::kUnsupported, "the stubs of accesses cannot be written");
  const auto common = reinterpret_cast<std::uint64_t>(core_sled_common);
  Assembler(object.stubs).copy(common, reinterpret_cast<std::uint64_t>(core_sled_common_end) - common);
  change_sleds(object, table, [&](const SledEntry& entry, std::uint64_t sled, std::uint64_t index) {
    if (!is_wanted(entry) || !(is_sled(sled) || object.armed)) return;
    const std::uint64_t stub = object.stubs + (index + 1) * kStubBytes;
    write_stub(stub, entry, object.stubs);
    Assembler(sled).put(kJump, stub);
  });
  object.armed = true;
  state().armed_sleds = 1;
}

bool any_new;

}  // namespace

const SledMode& sled_mode() { return mode; }

void note_sleds(std::uint64_t start) {
  if (admit_sled_object(start) != nullptr) any_new = true;
}

bool has_sleds(std::uint64_t headers) { return find_sled_note(headers) != 0; }

void arm_sleds() {
  mode = {config().detect_now != 0, tracing()};
  if (!mode.counts && !mode.traces) return;
  for (std::uint32_t i = 0; i < sled_object_count(); i++) arm(sled_object(i));
  any_new = false;
}

void quiet_sleds(const std::uint8_t* table) {
  const std::uint64_t hash = sled_object_count() == 0 ? 0 : hash_of(table);
  if (hash == quiet_hash) return;
  quiet_sites = table;
  quiet_hash = hash;
  arm_sleds();
}

void arm_new_sleds() {
  if (!any_new || (!mode.counts && !mode.traces)) return;
  any_new = false;
  for (std::uint32_t i = 0; i < sled_object_count(); i++) {
    SledObject& object = sled_object(i);
    if (object.armed) continue;
    is_mapped_whole(object) ? arm(object) : void(any_new = true);
  }
}

void disarm_sleds(std::uint64_t start, std::uint64_t end) {
  for (std::uint32_t i = 0; i < sled_object_count(); i++) {
    if (!sled_object(i).armed) continue;
    change_sleds(sled_object(i), table_of(sled_object(i)), [&](const SledEntry&, std::uint64_t sled, std::uint64_t) {
      if (sled >= start && sled < end) memcpy(reinterpret_cast<void*>(sled), kSled, kSledBytes);
    });
  }
}

}  // namespace reweave::core

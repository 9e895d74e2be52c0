#include "recorder/core/code/counting_stubs.h"

#include <sys/mman.h>

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/linkage_table.h"
#include "recorder/core/preempt/memory_hash.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kStubBytes = 64;
constexpr std::uint64_t kCallBytes = 5, kCallThroughSlotBytes = 6;

constexpr std::uint8_t kCallThroughSlot[] = {0xff, 0x15};  // call *distance(%rip), in code built with -fno-plt
constexpr std::uint8_t kLoadRdi[] = {0x48, 0x8d, 0x3d};    // lea distance(%rip), %rdi
constexpr std::uint8_t kStoreRdi[] = {0x48, 0x89, 0x7c, 0x24, 0xf8};  // mov %rdi, -8(%rsp)
constexpr std::uint8_t kStoreLow[] = {0xc7, 0x44, 0x24, 0xf8};        // movl $.., -8(%rsp)
constexpr std::uint8_t kStoreHigh[] = {0xc7, 0x44, 0x24, 0xfc};       // movl $.., -4(%rsp)
constexpr std::uint8_t kCount[] = {0x65, 0x48, 0x83, 0x2c, 0x25};     // subq $.., %gs:..
constexpr std::uint8_t kOne[] = {1};
constexpr std::uint8_t kIfNegative[] = {0x0f, 0x88};                    // js
constexpr std::uint8_t kPushStored[] = {0x48, 0x8d, 0x64, 0x24, 0xf8};  // lea -8(%rsp), %rsp

// A call of one of the functions.
struct CallSite {
  std::uint64_t start, after;
  std::uint32_t function;
};

int function_named(const CountedFunctions& functions, const char* name) {
  for (std::uint32_t i = 0; i < functions.count; i++)
    if (string_equal(functions.items[i].name, name)) return static_cast<int>(i);
  return -1;
}

// Slots that are not writable are filled already.
void fill(std::uint64_t slot, void (*function)(void*)) {
  const Region* region = region_at(slot);
  if (region == nullptr || (region->prot & PROT_WRITE) == 0) return;
  __builtin_memcpy(reinterpret_cast<void*>(slot), &function, sizeof function);
  leave_out_of_hashes(slot);
}

void find_slots(const LoadedObject& object, Elf64_Sxword table, Elf64_Sxword bytes, const CountedFunctions& functions,
                Places& slots) {
  for_each_slot(object, table, bytes, [&](std::uint64_t slot, const Elf64_Sym&, const char* name) {
    const int index = function_named(functions, name);
    if (index < 0) return;
    slots.add(slot, static_cast<std::uint32_t>(index));
    fill(slot, functions.items[index].function);
  });
}

template <typename Use>
void for_each_site(const Code& code, const Places& slots, const Places& entries, Use use) {
  for (std::uint64_t at = code.start; at + kCallThroughSlotBytes <= code.end; at++) {
    const std::uint8_t opcode = *code_at(at);
    int index = -1;
    if (opcode == kCall[0] && (index = entries.find(target_of(at + 1))) >= 0)
      use(CallSite{at, at + kCallBytes, static_cast<std::uint32_t>(index)});
    else if (opcode == kCallThroughSlot[0] && is_at(at, kCallThroughSlot) &&
             (index = slots.find(target_of(at + sizeof kCallThroughSlot))) >= 0)
      use(CallSite{at, at + kCallThroughSlotBytes, static_cast<std::uint32_t>(index)});
  }
}

// For each function, the code at which stubs continue when the countdown has run out. It sets up the stack as after a
// call, with the return address that the stub has stored, and jumps to the function's `point`.
class PointStubs {
 public:
  PointStubs(std::uint64_t start, const CountedFunctions& functions) : start_(start) {
    for (std::uint32_t i = 0; i < functions.count; i++) {
      Assembler code(of(i));
      code.put(kPushStored);
      code.put(kJumpThroughSlot, code.at() + sizeof kJumpThroughSlot + sizeof(std::int32_t));
      code.copy(reinterpret_cast<std::uint64_t>(&functions.items[i].point), sizeof functions.items[i].point);
    }
  }
  std::uint64_t of(std::uint32_t function) const { return start_ + function * kStubBytes; }

 private:
  std::uint64_t start_;
};

// Loads the return address into %rdi and stores it below the stack pointer, as the function itself leaves both; then
// jumps there.
void write_return(Assembler& code, const CallSite& site) {
  code.put(kLoadRdi, site.after);
  code.put(kStoreRdi);
  code.put(kJump, site.after);
}

// Stubs of nearby sites use different counters.
std::uint64_t countdown_of(std::uint64_t stub) {
  return offsetof(Thread, stub_countdowns) + stub / kStubBytes % kStubCountdowns * sizeof Thread::stub_countdowns[0];
}

void write_counting_stub(std::uint64_t stub, const CallSite& site, std::uint64_t point_stub) {
  constexpr std::uint64_t kFastBytes = sizeof kCount + sizeof kOne + sizeof kIfNegative + sizeof kLoadRdi +
                                       sizeof kStoreRdi + sizeof kJump + 4 * sizeof(std::int32_t);
  const std::uint64_t countdown = countdown_of(stub);
  Assembler code(stub);
  code.put(kCount);
  code.copy(reinterpret_cast<std::uint64_t>(&countdown), 4);
  code.put(kOne);
  code.put(kIfNegative, stub + kFastBytes);
  write_return(code, site);
  code.put(kStoreLow);
  code.copy(reinterpret_cast<std::uint64_t>(&site.after), 4);
  code.put(kStoreHigh);
  code.copy(reinterpret_cast<std::uint64_t>(&site.after) + 4, 4);
  code.put(kJump, point_stub);
}

void redirect(const CallSite& site, std::uint64_t stub) {
  Assembler code(site.start);
  code.put(kJump, stub);
  if (site.after - code.at() == sizeof kNop) code.put(kNop);
}

// Size of the stubs of `functions` and of all sites, or the room available; 0 if there is nothing to do.
std::uint64_t stub_bytes(const Code& code, const Places& slots, const Places& entries, std::uint32_t functions) {
  std::uint64_t sites = 0;
  for_each_site(code, slots, entries, [&](const CallSite&) { sites++; });
  const std::uint64_t wanted = (functions + sites) * kStubBytes, room = stub_room(code.start);
  if (sites == 0 || room <= functions * kStubBytes) return 0;
  return wanted < room ? wanted : room;
}

void write_stubs(const Code& code, const Places& slots, const Places& entries, const CountedFunctions& functions) {
  const std::uint64_t bytes = stub_bytes(code, slots, entries, functions.count);
  if (bytes == 0) return;
  const std::uint64_t stubs = new_stub(code.start, bytes);
  if (stubs == 0) return;
  const Writable stub_pages(stubs, bytes), code_pages(code.start, code.end - code.start);
  if (!stub_pages.done() || !code_pages.done()) return;
  state().has_counting_stubs = 1;
  const PointStubs points(stubs, functions);
  std::uint64_t stub = points.of(functions.count);
  for_each_site(code, slots, entries, [&](const CallSite& site) {
    if (stub == stubs + bytes) return;
    if (functions.items[site.function].point != nullptr) {
      write_counting_stub(stub, site, points.of(site.function));
    } else {
      Assembler whole(stub);
      write_return(whole, site);
    }
    redirect(site, stub);
    stub += kStubBytes;
  });
}

}  // namespace

void note_instrumented(const LoadedObject& object, const CountedFunctions& functions, bool only_counting) {
  const Region* region = code_region(object.code);
  if (region == nullptr || !is_loaded(reinterpret_cast<const Elf64_Dyn*>(object.dynamic))) return;
  static Places slots, entries;
  slots = entries = Places();
  find_slots(object, DT_RELA, DT_RELASZ, functions, slots);
  find_slots(object, DT_JMPREL, DT_PLTRELSZ, functions, slots);
  if (!only_counting || config().patch_calls == 0) return;
  const Code code = {region->start, region->end};
  find_entries(code, slots, entries);
  write_stubs(code, slots, entries, functions);
}

}  // namespace reweave::core

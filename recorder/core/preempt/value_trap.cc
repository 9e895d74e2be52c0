#include "recorder/core/preempt/value_trap.h"

#include <sys/mman.h>

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/preempt/instant.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kStubBytes = 448 + kMostMovedBytes + NamedWords::kMax * 50;
static_assert(kStubBytes % 64 == 0);
constexpr std::uint8_t kStoreRcx[] = {0x65, 0x48, 0x89, 0x0c, 0x25};  // mov %rcx, %gs:..
constexpr std::uint8_t kLoadRcx[] = {0x65, 0x48, 0x8b, 0x0c, 0x25};   // mov %gs:.., %rcx
constexpr std::uint8_t kIfZero[] = {0xe3};                            // jrcxz
constexpr std::uint8_t kInt3[] = {0xcc};
constexpr std::uint32_t kRcx = 14, kRsp = 15;  // of PreemptRecord::general
constexpr std::uint8_t kEncoded[kGeneralRegisters] = {8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4};

bool is_code(const Region& region) {
  return (region.prot & PROT_EXEC) != 0 && !region.shared && region.accessible_end() == region.end;
}

// True from the event on at which a debugger is awaited; it sets breakpoints at the instructions that it sees.
bool may_be_debugged() {
  return config().patch_calls == 0 && arena().status.event.load(std::memory_order_relaxed) >= config().stop_event;
}

// Finds the instructions that a trap at `address` covers.
bool find_window(JumpWindow& window, std::uint64_t address) {
  const Region* region = region_at(address);
  if (region == nullptr || !is_code(*region) || !window.find(address, *region)) return false;
  if (window.is_entered(*region)) return false;
  return window.count == 1 || !may_be_debugged();
}

// One stub for all traps within its reach, because there is only one trap at a time.
std::uint64_t stub_for(std::uint64_t address) {
  constexpr std::uint64_t kNear = (std::uint64_t{1} << 31) - kPage;
  static std::uint64_t last;
  if (last == 0 || last + kNear < address || address + kNear < last) last = new_stub(address, kStubBytes);
  return last;
}

std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

template <std::size_t n>
void put_shelf(Assembler& code, const std::uint8_t (&instruction)[n]) {
  constexpr std::uint32_t kShelf = offsetof(Thread, shelved);
  code.put(instruction);
  code.copy(reinterpret_cast<std::uint64_t>(&kShelf), sizeof kShelf);
}

// Emits comparisons. The path for unequal values is placed right after the first one, because nearly all iterations
// take it; so it needs no jump.
template <typename PutGoOn>
class Comparisons {
 public:
  Comparisons(Assembler& code, const PutGoOn& put_go_on) : code_(code), put_go_on_(put_go_on) {}

  bool begun() const { return differs_ != 0; }
  // lea -value(register), %ecx; jrcxz: neither changes flags.
  void put(std::uint32_t i, std::uint64_t value) {
    const std::uint8_t number = kEncoded[i];
    const std::uint8_t extended[] = {0x41}, base[] = {0x24};
    const std::uint8_t load[] = {0x8d, static_cast<std::uint8_t>(0x88 | (number & 7))};
    if (i == kRcx) put_shelf(code_, kLoadRcx);
    if (number >= 8) code_.put(extended);
    code_.put(load);
    if ((number & 7) == 4) code_.put(base);
    put_decision(low(value));
  }
  // Likewise for a word in memory, one half after the other.
  void put(const wire::NamedWord& word) {
    constexpr std::uint8_t kSetRcx[] = {0x48, 0xb9};                       // movabs $.., %rcx
    constexpr std::uint8_t kLoad[] = {0x8b, 0x09}, kLea[] = {0x8d, 0x89};  // mov (%rcx), %ecx; lea ..(%rcx), %ecx
    for (std::uint64_t half = 0; half < 2; half++) {
      const std::uint64_t address = word.address + 4 * half;
      code_.put(kSetRcx);
      code_.copy(reinterpret_cast<std::uint64_t>(&address), sizeof address);
      code_.put(kLoad);
      code_.put(kLea);
      put_decision(low(word.value >> 32 * half));
    }
  }

 private:
  // Completes a lea with -value, then goes to the path for unequal values if the result is not 0.
  void put_decision(std::uint32_t value) {
    const std::uint32_t negative = 0 - value;
    code_.copy(reinterpret_cast<std::uint64_t>(&negative), sizeof negative);
    code_.put(kIfZero);
    Assembler distance(code_.at());
    code_.put({0});
    const std::uint64_t from = code_.at();
    if (differs_ != 0) {
      code_.put(kJump, differs_);
    } else {
      differs_ = from;
      put_go_on_();
    }
    distance.put({static_cast<std::uint8_t>(code_.at() - from)});
  }

  Assembler& code_;
  const PutGoOn& put_go_on_;
  std::uint64_t differs_ = 0;
};

bool is_compared(std::uint32_t i, std::uint64_t value) { return i != kRsp && !is_ours(value); }

}  // namespace

bool ValueTrap::is_possible(std::uint64_t address) {
  JumpWindow window;
  return find_window(window, address);
}

// Compares what differs now first, because it most likely differs in the next iterations as well. Words of memory that
// are equal now are not compared. False if there is nothing to compare.
bool ValueTrap::write_stub(KernelRegisters& present, const Values& wanted) {
  Assembler code(stub_);
  const auto put_go_on = [&] {
    put_shelf(code, kLoadRcx);
    for (std::uint32_t i = 0; i < count_; i++) moved_[i] = move_instruction(code, moved_[i].from);
    code.put(kJump, address_ + covered_);
  };
  Comparisons compare(code, put_go_on);
  put_shelf(code, kStoreRcx);
  for (const bool equal : {false, true})
    for (std::uint32_t i = 0; i < kGeneralRegisters; i++)
      if (is_compared(i, wanted.general[i]) && (low(general_register(present, i)) == low(wanted.general[i])) == equal)
        compare.put(i, wanted.general[i]);
  for (const wire::NamedWord& word : wanted.words)
    if (word_at(word.address) != word.value) compare.put(word);
  put_shelf(code, kLoadRcx);
  code.put(kInt3);
  struck_ = code.at();
  return compare.begun();
}

bool ValueTrap::plant(KernelRegisters& present, const Values& wanted) {
  const std::uint64_t address = present.rip;
  JumpWindow window;
  const std::uint64_t stub = find_window(window, address) ? stub_for(address) : 0;
  if (stub == 0 || !window.reaches(stub, kStubBytes)) return false;
  address_ = address;
  covered_ = window.bytes;
  stub_ = stub;
  count_ = window.count;
  for (std::uint32_t i = 0; i < count_; i++) moved_[i].from = window.starts[i];
  memcpy(original_, code_at(address), sizeof original_);
  const Writable room(stub, kStubBytes);
  const bool written = room.done() && write_stub(present, wanted);
  const Writable code(address, kJumpBytes, protection() & ~PROT_WRITE);
  if (written && code.done())
    Assembler(address).put(kJump, stub);
  else
    *this = {};
  return planted();
}

int ValueTrap::protection() const {
  const Region* region = region_at(address_);
  return region == nullptr ? PROT_NONE : static_cast<int>(region->prot);
}

void ValueTrap::remove() {
  if (!planted()) return;
  const Writable code(address_, kJumpBytes, protection());
  if (code.done()) memcpy(reinterpret_cast<void*>(address_), original_, sizeof original_);
  *this = {};
}

bool ValueTrap::guards(std::uint64_t at) const {
  const bool near = at >= page_down(address_) && at < page_up(address_ + kJumpBytes);
  return planted() && near && (protection() & PROT_WRITE) != 0;
}

std::uint64_t ValueTrap::origin(std::uint64_t ip) const {
  for (std::uint32_t i = 0; i < count_; i++)
    if (planted() && moved_[i].to == ip) return moved_[i].from;
  return 0;
}

}  // namespace reweave::core

#include "recorder/core/rare_place.h"

#include <sys/syscall.h>

#include "recorder/core/code_patterns.h"
#include "recorder/core/code_trap.h"
#include "recorder/core/countdown.h"
#include "recorder/core/preemption.h"
#include "recorder/core/stubs.h"

namespace reweave::core {

bool seeking_place;

namespace {

constexpr std::int64_t kSeldom = 2'000'000;    // nanoseconds until a place is reached that is rare enough
constexpr std::int64_t kUnseen = 100'000'000;  // after which a place is too rare
constexpr std::uint64_t kStackBytes = 64 << 10;
constexpr std::uint32_t kMaxPlaces = 16;

struct Search {
  ThreadId thread;
  bool in_vain;  // none was found, as long as the thread stays at this step
  bool last;     // this place it is
  std::uint64_t step;
  std::uint64_t places[kMaxPlaces];  // inner frames first
  std::uint32_t count, at;
  std::int64_t planted;  // when
  CodeTrap trap;
};
Search search;

std::int64_t now() {
  std::int64_t time[2];
  sys(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, time);
  return time[0] * 1'000'000'000 + time[1];
}

// True if a call ends right before `address`.
bool is_behind_call(std::uint64_t address) {
  const std::uint8_t* code = code_at(address);
  if (code[-5] == 0xe8) return true;
  for (long bytes : {2, 3, 4, 6, 7})  // ff /2
    if (code[-bytes] == 0xff && (code[-bytes + 1] >> 3 & 7) == 2) return true;
  return false;
}

bool is_return_address(std::uint64_t word) {
  constexpr std::uint64_t kLongestCall = 7;
  const Region* region = code_region(word);
  return region != nullptr && word >= region->start + kLongestCall && is_behind_call(word) && nameable(word);
}

void note_place(std::uint64_t place) {
  for (std::uint32_t i = 0; i < search.count; i++)
    if (search.places[i] == place) return;
  search.places[search.count++] = place;
}

bool try_place(std::uint32_t at) {
  search.trap.remove();
  search.at = at;
  search.planted = now();
  return search.trap.plant(search.places[at]);
}

}  // namespace

bool seek_rare_place(const KernelContext& context) {
  const std::uint64_t step = step_of(self());
  if (seeking_place) return true;
  if (search.in_vain && search.thread == self().id && search.step == step) return false;
  const std::uint64_t sp = context.registers.rsp;
  const Region* stack = region_at(sp);
  if (stack == nullptr) return false;
  const std::uint64_t end = stack->accessible_end() - sp < kStackBytes ? stack->accessible_end() : sp + kStackBytes;
  search = {};
  search.thread = self().id;
  search.step = step;
  for (std::uint64_t at = (sp + 7) & ~std::uint64_t{7}; at + 8 <= end && search.count < kMaxPlaces; at += 8) {
    const std::uint64_t word = *reinterpret_cast<const std::uint64_t*>(at);
    if (is_return_address(word)) note_place(word);
  }
  seeking_place = search.count != 0 && try_place(0);
  return seeking_place;
}

void seek_on() {
  if (!seeking_place || search.thread != self().id || now() - search.planted < kUnseen) return;
  search.in_vain = search.at == 0;
  search.last = true;
  if (search.in_vain || !try_place(search.at - 1)) stop_seeking();
}

bool on_sought_place(KernelContext& context) {
  KernelRegisters& r = context.registers;
  if (!seeking_place || !search.trap.hit(r.rip)) return false;
  r.rip--;
  const bool goes_on = search.thread == self().id && search.step == step_of(self());
  const bool is_rare = search.last || now() - search.planted >= kSeldom || search.at + 1 == search.count;
  if (goes_on && !is_rare && try_place(search.at + 1)) return true;
  stop_seeking();
  if (goes_on && is_rare) preempt(context, {});
  return true;
}

void stop_seeking() {
  search.trap.remove();
  seeking_place = false;
}

}  // namespace reweave::core

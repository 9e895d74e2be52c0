// Handles a thread at an armed sled (core/code/sleds.h): the schedule point of the access that follows, the check of
// the heap, and the trace event. The functions of shim/tsan do the same for a build with -fsanitize=thread.
#include "recorder/core/base/debugger_call.h"
#include "recorder/core/code/sleds.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/heap_poison.h"
#include "recorder/peek.h"
#include "recorder/sled_format.h"

#pragma GCC visibility push(hidden)
extern "C" void core_api_memory_error(const char* what, std::uint64_t address, std::uint64_t pc);  // api.cc
#pragma GCC visibility pop

namespace reweave::core {

namespace {

struct Shape {
  OpKind op;
  EventKind event;
  bool write;
  bool range;
  std::uint8_t marks;  // of the event
};

constexpr std::uint8_t kTable = kMakesLock | kEndsLock;  // of events on an object's pointer to its virtual table

constexpr Shape kShapes[kSledKinds] = {
    {OpKind::kAccess, EventKind::kRead, false, false, 0},
    {OpKind::kAccess, EventKind::kWrite, true, false, 0},
    {OpKind::kAtomic, EventKind::kAtomicLoad, false, false, 0},
    {OpKind::kAtomic, EventKind::kAtomicStore, true, false, 0},
    {OpKind::kAtomic, EventKind::kAtomicRmw, true, false, 0},
    {OpKind::kAtomic, EventKind::kAtomicRmw, true, false, 0},
    {OpKind::kAtomic, EventKind::kFence, true, false, 0},
    {OpKind::kAccess, EventKind::kRead, false, true, 0},
    {OpKind::kAccess, EventKind::kWrite, true, true, 0},
    {OpKind::kAccess, EventKind::kRead, false, false, kTable},
    {OpKind::kAccess, EventKind::kWrite, true, false, kTable},
};

// The access that the thread is about to make.
struct SledAccess {
  const SledEntry& entry;
  const Shape& shape;
  std::uint64_t address, pc, bytes;
  std::uint64_t value;  // the second operand
};

SledAccess access_of(const Thread& me) {
  const auto& entry = *reinterpret_cast<const SledEntry*>(me.point_pc);
  const std::uint64_t value = me.point_operation | std::uint64_t{me.point_detail} << 32;
  return {entry,
          kShapes[static_cast<std::uint8_t>(entry.kind)],
          entry.operands == 0 ? 0 : me.point_object,
          address_after_sled(entry),
          entry.bytes,
          value};
}

// Takes the access's schedule point. In explored runs the stub counts, and this is called once the countdown has run
// out. In traced replays this function counts.
void take_point(Thread& me, const SledAccess& access) {
  if (sled_mode().traces) {
    if ((access.entry.flags & kSledSamePoint) != 0 || --me.countdown >= 0) return;
  }
  const auto detail = static_cast<std::uint32_t>(access.bytes);
  counted_point(
      {access.address, access.pc, access.shape.op, access.shape.write ? std::uint8_t{1} : std::uint8_t{0}, 0, detail});
}

// Addresses that the processor would reject are the program's own problem: its access will fault.
bool may_be_memory(const SledAccess& access) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 47;
  return access.address >= kPage && access.address < kEnd && access.bytes <= kEnd - access.address;
}

void check_heap(const SledAccess& access) {
  if (access.bytes == 0 || !may_be_memory(access)) return;
  const HeapError error = find_heap_error(access.address, access.bytes);
  if (error.what != nullptr) core_api_memory_error(error.what, error.at, access.pc);
}

// True if the memory holds the second operand: then an exchange will succeed, and an update changes nothing. No other
// thread runs before the access.
bool holds_value(const SledAccess& access) {
  if (bytes_there(access.address, access.bytes) != access.bytes) return true;
  return memcmp(reinterpret_cast<const void*>(access.address), &access.value, access.bytes) == 0;
}

std::uint8_t log2_of(std::uint64_t bytes) { return static_cast<std::uint8_t>(63 - __builtin_clzll(bytes | 1)); }

// `extra`: the record names the number of bytes; otherwise it has the value there, if it can.
void trace_words(const SledAccess& access, EventKind kind, std::uint8_t low, bool extra) {
  std::uint64_t third = access.bytes;
  if (!extra && kind != EventKind::kFence && peek(access.address, access.bytes, third)) low |= wire::kTraceValue;
  const std::uint64_t word0 = wire::pack_word0(kind, low, access.address, extra);
  const std::uint32_t bytes = wire::trace_record_bytes(word0);
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(bytes));
  words[0] = word0;
  words[1] = wire::pack_word1(access.pc, self().id);
  if (bytes == 24) words[2] = third;
  publish_out(bytes);
}

void trace_atomic(const SledAccess& access) {
  const auto order = static_cast<std::uint8_t>(access.entry.order & 0xf);
  if (access.entry.kind == SledKind::kFence) return trace_words(access, EventKind::kFence, order, false);
  const std::uint8_t size = log2_of(access.bytes);
  if (access.entry.kind == SledKind::kCompareExchange && !holds_value(access))
    return trace_words(access, EventKind::kAtomicLoad, size | (access.entry.order & 0xf0), false);
  trace_words(access, access.shape.event, static_cast<std::uint8_t>(size | order << 4), false);
}

void trace(const SledAccess& access) {
  if (access.shape.op == OpKind::kAtomic) return trace_atomic(access);
  if (access.bytes == 0) return;
  if (access.shape.range && !may_be_memory(access)) return;
  const bool is_short = !access.shape.range && access.shape.marks == 0 && (access.bytes & (access.bytes - 1)) == 0;
  const std::uint8_t again = (access.entry.flags & kSledSamePoint) != 0 ? kSamePoint : std::uint8_t{0};
  const bool kept = access.entry.kind == SledKind::kTableUpdate && holds_value(access);
  trace_words(access, kept ? EventKind::kRead : access.shape.event,
              is_short ? log2_of(access.bytes) : static_cast<std::uint8_t>(access.shape.marks | again), !is_short);
}

}  // namespace

}  // namespace reweave::core

using namespace reweave::core;  // NOLINT: entered from entry.S

extern "C" void core_api_sled() {
  reweave::Thread& me = self();
  const SledAccess access = access_of(me);
  if (called_by_debugger()) {
    me.countdown = INT32_MAX;
  } else {
    if (sled_mode().counts) take_point(me, access);
    if (config().detect_now != 0) check_heap(access);
    if (sled_mode().traces) trace(access);
  }
  me.point_pc = access.pc;  // the stub continues there
}

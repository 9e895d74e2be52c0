// Streams of packed trace events for tests and benchmarks.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "formats/wire.h"

namespace reweave::test {

// Packed events one after the other, as in a ring.
class PackedEvents {
 public:
  // An access of `size` bytes, a power of two.
  void access(EventKind kind, ThreadId thread, std::uint64_t pc, std::uint64_t address, unsigned size,
              unsigned order = 0) {
    const auto low = static_cast<std::uint8_t>(static_cast<unsigned>(__builtin_ctz(size)) | order << 4);
    put(wire::pack_word0(kind, low, address, false), wire::pack_word1(pc, thread));
  }
  // The same, of at most 8 bytes, with the bytes that are there before it.
  void valued(EventKind kind, ThreadId thread, std::uint64_t pc, std::uint64_t address, unsigned size,
              std::uint64_t value) {
    const auto low = static_cast<std::uint8_t>(static_cast<unsigned>(__builtin_ctz(size)) | wire::kTraceValue);
    put(wire::pack_word0(kind, low, address, false), wire::pack_word1(pc, thread));
    words_.push_back(value);
  }
  // `aux` of an access must not have wire::kTraceValue.
  void plain(EventKind kind, ThreadId thread, std::uint64_t pc, std::uint64_t address, std::uint8_t aux = 0) {
    put(wire::pack_word0(kind, aux, address, false), wire::pack_word1(pc, thread));
  }
  void with_extra(EventKind kind, ThreadId thread, std::uint64_t pc, std::uint64_t address, std::uint64_t extra,
                  std::uint8_t aux = 0) {
    put(wire::pack_word0(kind, aux, address, true), wire::pack_word1(pc, thread));
    words_.push_back(extra);
  }

  std::size_t count() const { return starts_.size(); }
  const std::uint64_t* operator[](std::size_t index) const { return words_.data() + starts_[index]; }
  TraceEvent event(std::size_t index) const { return wire::unpack_trace((*this)[index]); }

 private:
  void put(std::uint64_t word0, std::uint64_t word1) {
    starts_.push_back(words_.size());
    words_.push_back(word0);
    words_.push_back(word1);
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::size_t> starts_;
};

// Nested loops over arrays by several threads, with a lock now and then: the common case.
inline PackedEvents loop_events(std::size_t count, std::uint64_t seed, unsigned threads = 4) {
  std::mt19937_64 random(seed);
  PackedEvents events;
  std::vector<std::uint64_t> index(threads);
  ThreadId now = 0;
  while (events.count() < count) {
    const std::uint64_t i = index[now]++;
    const std::uint64_t array = 0x7f0000000000 + now * 0x1000000ull;
    events.plain(EventKind::kBranch, now, 0x401000, 0);
    events.access(EventKind::kRead, now, 0x401010, array + i % 4096 * 8, 8);
    events.access(EventKind::kRead, now, 0x401020, array + 0x100000 + i % 4096 * 4, 4);
    events.access(EventKind::kWrite, now, 0x401030, array + 0x200000 + i % 4096 * 8, 8);
    events.access(EventKind::kWrite, now, 0x401040, 0x7ffff000 - now * 0x10000ull, 4);
    if (i % 64 == 0) {
      events.plain(EventKind::kLock, now, 0x402000, 0x601000);
      events.access(EventKind::kWrite, now, 0x402010, 0x601040, 8);
      events.plain(EventKind::kUnlock, now, 0x402020, 0x601000);
    }
    if (random() % 100 == 0) now = static_cast<ThreadId>(random() % threads);
  }
  return events;
}

// A walk over a graph of objects: few strides, many branches. 2,000 sites.
inline PackedEvents irregular_events(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PackedEvents events;
  ThreadId now = 0;
  while (events.count() < count) {
    const std::uint64_t object = 0x555500000000 + random() % 100000 * 48;
    const std::uint64_t function = 0x400000 + random() % 200 * 0x100;
    const std::uint64_t frame = 0x7ffffffe0000 - now * 0x10000ull - random() % 8 * 128;
    events.with_extra(EventKind::kCall, now, function, 0, 0);
    for (std::uint64_t i = 0; i < 6; ++i) {
      events.access(EventKind::kRead, now, function + 8 + i * 16, object + i * 8, 8);
      events.access(EventKind::kWrite, now, function + 16 + i * 16, frame + i * 8, 8);
      if (random() % 3 == 0) events.plain(EventKind::kBranch, now, function + 0xf0, 0);
    }
    if (random() % 50 == 0) now = static_cast<ThreadId>(random() % 6);
  }
  return events;
}

// Every field random.
inline PackedEvents random_events(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PackedEvents events;
  constexpr std::uint64_t kMask48 = (std::uint64_t{1} << 48) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto kind = static_cast<EventKind>(random() % static_cast<unsigned>(EventKind::kKindCount));
    const auto thread = static_cast<ThreadId>(random() % 8 == 0 ? random() : random() % 3);
    const std::uint64_t pc = random() % 4 == 0 ? random() & kMask48 : random() % 50;
    const std::uint64_t address = (random() & kMask48) >> random() % 48;
    const auto aux = static_cast<std::uint8_t>(random());
    if (random() % 3 == 0)
      events.with_extra(kind, thread, pc, address, random() >> random() % 64, aux);
    else if (wire::is_access(kind) && (aux & wire::kTraceValue) != 0)
      events.valued(kind, thread, pc, address, 1u << aux % 4, random() >> random() % 64);
    else
      events.plain(kind, thread, pc, address, aux);
  }
  return events;
}

}  // namespace reweave::test

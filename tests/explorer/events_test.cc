// Direct pairs are compared with their definition, byte by byte, on random runs.
#define BOOST_TEST_MODULE events
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "explorer/run/events.h"

namespace reweave {
namespace {

using Numbers = std::set<std::pair<std::size_t, std::size_t>>;

constexpr std::uint64_t kMemory = 0x10000;

Event event(std::size_t number, ThreadId thread, OpKind kind, std::uint64_t object, std::uint32_t bytes, bool write) {
  Event made;
  made.name = {0x400000 + number, 1, thread, 0};
  made.choice = number;
  made.note.thread = thread;
  made.note.kind = static_cast<std::uint8_t>(kind);
  made.note.object = object;
  made.note.detail = bytes;
  made.note.is_write = write ? 1 : 0;
  return made;
}

bool covers(const Event& event, std::uint64_t byte) {
  return event.note.object <= byte && byte < event.note.object + event.note.detail;
}

// Returns the pairs (earlier, later) of conflicting events for which some byte is written by no event in between.
Numbers defined_pairs(const std::vector<Event>& run) {
  Numbers pairs;
  for (std::size_t then = 0; then < run.size(); then++)
    for (std::uint64_t byte = run[then].note.object; covers(run[then], byte); byte++)
      for (std::size_t first = then; first-- > 0;) {
        if (!covers(run[first], byte)) continue;
        if (conflict(run[first], run[then])) pairs.insert({first, then});
        if (run[first].note.is_write != 0) break;
      }
  return pairs;
}

Numbers found_pairs(const std::vector<Event>& run) {
  Numbers pairs;
  for (const EventPair& pair : direct_pairs(run)) pairs.insert({pair.first.choice, pair.then.choice});
  return pairs;
}

BOOST_AUTO_TEST_CASE(direct_pairs_are_those_of_the_definition) {
  std::mt19937_64 random(20261129);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int run_number = 0; run_number < 300; run_number++) {
    const std::uint64_t room = run_number % 2 == 0 ? 16 : 64;  // bytes: crowded, or with neighbours that do not overlap
    std::vector<Event> run;
    for (std::size_t i = 0; i < 40; i++) {
      const auto thread = static_cast<ThreadId>(below(3));
      const auto bytes = static_cast<std::uint32_t>(std::uint64_t{1} << below(6));
      run.push_back(event(i, thread, OpKind::kAccess, kMemory + below(room), bytes, below(2) == 0));
    }
    BOOST_TEST((found_pairs(run) == defined_pairs(run)));
  }
}

// Blocks of any size: the last bytes count as well.
BOOST_AUTO_TEST_CASE(a_release_conflicts_with_uses_of_all_its_bytes) {
  constexpr std::uint32_t kBytes = 1 << 20;
  for (const std::uint64_t offset : {0, 8192, 500'000, (1 << 20) - 1}) {
    const Event use = event(0, 1, OpKind::kAccess, kMemory + offset, 1, false);
    const Event release = event(1, 2, OpKind::kOther, kMemory, kBytes, true);
    const Event late = event(2, 3, OpKind::kAccess, kMemory + offset, 1, true);
    const Event beyond = event(3, 3, OpKind::kAccess, kMemory + kBytes, 1, true);
    BOOST_TEST((found_pairs({use, release, late, beyond}) == Numbers{{0, 1}, {1, 2}}));
  }
}

BOOST_AUTO_TEST_CASE(a_block_in_which_its_thread_creates_or_joins_is_told) {
  Observation run;
  for (const OpKind kind : {OpKind::kAccess, OpKind::kCreate, OpKind::kAccess, OpKind::kAccess, OpKind::kJoin}) {
    const ThreadId enabled[] = {0};
    run.append(event(run.size(), 0, kind, kMemory, 4, true).note, enabled);
  }
  const auto block = [](std::size_t begin, std::size_t end, ThreadId thread) {
    const Event between = event(begin, 1 - thread, OpKind::kAccess, kMemory, 4, true);
    return BrokenBlock{event(begin, thread, OpKind::kAccess, kMemory, 4, true), between,
                       event(end, thread, OpKind::kAccess, kMemory, 4, true)};
  };
  BOOST_TEST(spans_threads(block(0, 2, 0), run));
  BOOST_TEST(!spans_threads(block(2, 3, 0), run));
  BOOST_TEST(!spans_threads(block(0, 2, 1), run));
  BOOST_TEST(spans_threads(block(3, 100, 0), run));
}

}  // namespace
}  // namespace reweave

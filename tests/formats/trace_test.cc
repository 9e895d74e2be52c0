// Round trips of traces: events of all shapes, names of sites, random access, killed writers.
#define BOOST_TEST_MODULE trace
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <random>

#include "formats/base/folder.h"
#include "formats/elf/elf_file.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "tests/formats/events.h"
#include "tests/formats/records.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

using test::PackedEvents;

void write_trace(const std::string& path, const PackedEvents& events) {
  TraceWriter writer(path, {"0.1.0", {"prog", "arg"}, "rec"});
  for (std::size_t i = 0; i < events.count(); ++i) writer.append(events[i]);
  writer.finish();
}

void compare(const TraceReader& reader, const TraceChunk& chunk, const PackedEvents& events) {
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const TraceEvent expected = events.event(chunk.first_event + i);
    const bool same = expected.thread == chunk.thread[i] && expected.kind == chunk.kind[i] &&
                      expected.aux == chunk.aux[i] && expected.address == chunk.address[i] &&
                      expected.extra == chunk.extra[i] && expected.pc == reader.pc_of(chunk.site[i]) &&
                      expected.has_value == (chunk.has_value[i] != 0);
    if (!same) BOOST_FAIL("event " << chunk.first_event + i << " differs");
  }
}

std::size_t read_and_compare(const std::string& path, const PackedEvents& events) {
  TraceReader reader(path);
  TraceChunk chunk;
  std::size_t count = 0;
  while (reader.next(chunk)) {
    BOOST_REQUIRE_EQUAL(chunk.first_event, count);
    compare(reader, chunk, events);
    count += chunk.size();
  }
  BOOST_TEST(reader.info().events == count);
  return count;
}

template <typename Fixed>
void append_record(TraceWriter& writer, wire::RecordKind kind, ThreadId thread, Fixed fixed,
                   std::string_view tail = {}) {
  writer.append_record(test::header_of(test::make_record(kind, thread, fixed, tail)));
}

void append_module(TraceWriter& writer, ThreadId thread, std::uint64_t start, std::uint64_t end,
                   std::string_view path) {
  append_record(writer, wire::RecordKind::kModule, thread, wire::ModuleRecord{{}, start, start, end},
                test::text_tail(path));
}

void append_read(TraceWriter& writer, ThreadId thread, std::uint64_t pc) {
  PackedEvents events;
  events.access(EventKind::kRead, thread, pc, 0x1234, 8);
  writer.append(events[0]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(loops_survive) {
  test::Scratch scratch;
  const auto events = test::loop_events(700'000, 1);
  write_trace(scratch / "t.rwt", events);
  BOOST_TEST(read_and_compare(scratch / "t.rwt", events) == events.count());
}

BOOST_AUTO_TEST_CASE(irregular_events_survive) {
  test::Scratch scratch;
  const auto events = test::irregular_events(600'000, 1);
  write_trace(scratch / "t.rwt", events);
  BOOST_TEST(read_and_compare(scratch / "t.rwt", events) == events.count());
}

BOOST_AUTO_TEST_CASE(random_events_survive) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Scratch scratch;
    const auto events = test::random_events(20'000, seed);
    write_trace(scratch / "t.rwt", events);
    BOOST_TEST(read_and_compare(scratch / "t.rwt", events) == events.count());
  }
}

// Small values survive. Of large ones, equal numbers at one address mean equal values, and the last few values of an
// address keep their numbers.
BOOST_AUTO_TEST_CASE(values_survive) {
  test::Scratch scratch;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> pool;
  for (unsigned i = 0; i < 12; ++i) pool.push_back(random() >> (i % 2 == 0 ? 50 : 1));
  PackedEvents events;
  for (unsigned i = 0; i < 300'000; ++i) {
    const std::uint64_t address = 0x1000 + random() % (i < 150'000 ? 8 : 20'000) * 8;
    events.valued(EventKind::kRead, random() % 2, 1 + random() % 3, address, 8, pool[random() % pool.size()]);
  }
  write_trace(scratch / "t.rwt", events);
  TraceReader reader(scratch / "t.rwt");
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> meaning;  // of a number at an address
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> last;     // by address: value and number
  std::size_t small = 0, again = 0;
  for (TraceChunk chunk; reader.next(chunk);) {
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::uint64_t expected = events.event(chunk.first_event + i).value, got = chunk.value[i];
      BOOST_REQUIRE(chunk.has_value[i] != 0);
      BOOST_REQUIRE_EQUAL(got < kSmallValues, expected < kSmallValues);
      if (got < kSmallValues) {
        BOOST_REQUIRE_EQUAL(got, expected);
        ++small;
        continue;
      }
      const auto [known, is_new] = meaning.try_emplace({chunk.address[i], got}, expected);
      BOOST_REQUIRE_EQUAL(known->second, expected);
      again += is_new ? 0 : 1;
      const auto before = last.find(chunk.address[i]);
      const bool same = i > 0 && chunk.address[i] == chunk.address[i - 1] && before != last.end();
      if (same && before->second.first == expected) BOOST_REQUIRE_EQUAL(before->second.second, got);
      last[chunk.address[i]] = {expected, got};
    }
  }
  BOOST_TEST(small > 100'000u);
  BOOST_TEST(again > 50'000u);
}

BOOST_AUTO_TEST_CASE(pointers_into_blocks_have_no_equal) {
  test::Scratch scratch;
  PackedEvents events;
  events.with_extra(EventKind::kAlloc, 0, 1, 0x555500000000, 64);
  for (unsigned i = 0; i < 3; ++i) events.valued(EventKind::kRead, 0, 2, 0x1000, 8, 0x555500000010);
  for (unsigned i = 0; i < 3; ++i) events.valued(EventKind::kRead, 0, 2, 0x1000, 8, 0x555500000040);  // after the block
  write_trace(scratch / "t.rwt", events);
  TraceReader reader(scratch / "t.rwt");
  TraceChunk chunk;
  BOOST_REQUIRE(reader.next(chunk));
  BOOST_TEST(
      (chunk.value[1] != chunk.value[2] && chunk.value[2] != chunk.value[3] && chunk.value[3] != chunk.value[1]));
  BOOST_TEST((chunk.value[4] == chunk.value[5] && chunk.value[5] == chunk.value[6]));
}

BOOST_AUTO_TEST_CASE(header_and_totals_survive) {
  test::Scratch scratch;
  write_trace(scratch / "t.rwt", test::loop_events(10, 1));
  const TraceReader reader(scratch / "t.rwt");
  BOOST_TEST((reader.info().header == TraceHeader{"0.1.0", {"prog", "arg"}, "rec"}));
  BOOST_TEST(reader.info().complete);
  BOOST_TEST(reader.info().thread_count == 1u);
  BOOST_TEST(!reader.damage().has_value());
}

BOOST_AUTO_TEST_CASE(an_empty_trace_is_a_trace) {
  test::Scratch scratch;
  write_trace(scratch / "t.rwt", {});
  BOOST_TEST(read_and_compare(scratch / "t.rwt", {}) == 0u);
}

BOOST_AUTO_TEST_CASE(chunks_decode_in_any_order) {
  test::Scratch scratch;
  const auto events = test::irregular_events(1'000'000, 2);
  write_trace(scratch / "t.rwt", events);
  const TraceReader reader(scratch / "t.rwt");
  BOOST_REQUIRE_GT(reader.chunk_count(), 2u);
  TraceChunk chunk;
  for (std::size_t i = reader.chunk_count(); i-- > 0;) {
    reader.read_chunk(i, chunk);
    BOOST_TEST(chunk.first_event == reader.chunk_place(i).first_event);
    compare(reader, chunk, events);
  }
}

BOOST_AUTO_TEST_CASE(a_killed_writer_leaves_whole_chunks) {
  test::Scratch scratch;
  const auto events = test::irregular_events(600'000, 3);
  {
    TraceWriter writer(scratch / "t.rwt", {});
    for (std::size_t i = 0; i < events.count(); ++i) writer.append(events[i]);
  }
  BOOST_TEST(read_and_compare(scratch / "t.rwt", events) == 2 * TraceWriter::kChunkEvents);
  const TraceReader reader(scratch / "t.rwt");
  BOOST_TEST(!reader.info().complete);
  BOOST_REQUIRE(reader.damage().has_value());
  BOOST_TEST((reader.damage()->damage() == Damage::kTruncated));
}

BOOST_AUTO_TEST_CASE(sites_are_located_in_modules) {
  test::Scratch scratch;
  {
    TraceWriter writer(scratch / "t.rwt", {});
    append_record(writer, wire::RecordKind::kSpawn, 0, wire::SpawnRecord{{}, 0, 0, 0, 7, 0});
    append_module(writer, 0, 0x400000, 0x500000, "/bin/prog");
    append_module(writer, 0, 0x700000, 0x800000, "/lib/a.so");
    append_record(writer, wire::RecordKind::kSpawn, 0, wire::SpawnRecord{{}, 1, 0, 1, 8, 0});
    append_read(writer, 0, 0x400010);
    append_read(writer, 1, 0x700020);
    append_read(writer, 1, 0x900000);
    writer.finish();
  }
  TraceReader reader(scratch / "t.rwt");
  BOOST_TEST(reader.info().thread_count == 2u);
  BOOST_TEST(reader.info().threads[1].tid == 8);
  TraceChunk chunk;
  BOOST_REQUIRE(reader.next(chunk));
  const SiteLocation first = reader.site_location(chunk.site[0]), second = reader.site_location(chunk.site[1]);
  BOOST_TEST(reader.info().modules[first.module].path == "/bin/prog");
  BOOST_TEST(first.offset == 0x10u);
  BOOST_TEST(reader.info().modules[second.module].path == "/lib/a.so");
  BOOST_TEST(second.offset == 0x20u);
  BOOST_TEST(reader.site_location(chunk.site[2]).module == kNoModule);
}

BOOST_AUTO_TEST_CASE(call_stacks_survive) {
  test::Scratch scratch;
  {
    TraceWriter writer(scratch / "t.rwt", {});
    BOOST_TEST(writer.stack_of(0, {}) == 0u);
    const std::uint32_t first = writer.stack_of(0, {0x30, 0x20, 0x10});
    append_read(writer, 0, 0x30);
    writer.flush();  // later names are in another block
    BOOST_TEST(writer.stack_of(0, {0x40, 0x20, 0x10}) == first + 1);
    BOOST_TEST(writer.stack_of(0, {0x30, 0x20, 0x10}) == first);
    BOOST_TEST(writer.stack_of(0, {0x20, 0x10}) == first - 1);
    append_read(writer, 0, 0x30);
    writer.finish();
  }
  const TraceReader reader(scratch / "t.rwt");
  const auto& calls = reader.calls();
  BOOST_REQUIRE_EQUAL(calls.size(), 4u);
  const auto stack = [&](std::uint32_t id) {
    std::vector<std::uint64_t> callers;
    for (; id != 0; id = calls[id - 1].parent) callers.push_back(reader.pc_of(calls[id - 1].site));
    return callers;
  };
  BOOST_TEST((stack(3) == std::vector<std::uint64_t>{0x30, 0x20, 0x10}));
  BOOST_TEST((stack(4) == std::vector<std::uint64_t>{0x40, 0x20, 0x10}));
}

// Code that was only mapped, not announced: this test program, as the loader would map it.
BOOST_AUTO_TEST_CASE(mapped_code_is_a_module) {
  test::Scratch scratch;
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  std::uint64_t base = 0, offset = 0;
  while (!find_load_base(open_regular(self), offset, 0x10000000 + offset, base) && offset < 1 << 30) offset += 0x1000;
  {
    TraceWriter writer(scratch / "t.rwt", {});
    wire::MapFileRecord mapping{};
    mapping.address = 0x10000000 + offset;
    mapping.length = 0x1000;
    mapping.offset = offset;
    mapping.prot = 5;
    append_record(writer, wire::RecordKind::kMapFile, 0, mapping, test::text_tail(self));
    append_module(writer, 0, 0x700000, 0x800000, "/lib/a.so");
    append_read(writer, 0, mapping.address + 0x10);
    writer.finish();
  }
  TraceReader reader(scratch / "t.rwt");
  TraceChunk chunk;
  BOOST_REQUIRE(reader.next(chunk));
  const SiteLocation location = reader.site_location(chunk.site[0]);
  BOOST_REQUIRE_EQUAL(location.module, 0u);
  BOOST_TEST(reader.info().modules[0].path == self);
  BOOST_TEST(location.offset == 0x10000000 + offset + 0x10 - base);
}

// The same pc is other code after another module is loaded there, or another program is run.
BOOST_AUTO_TEST_CASE(replaced_code_gives_new_sites) {
  test::Scratch scratch;
  {
    TraceWriter writer(scratch / "t.rwt", {});
    append_module(writer, 0, 0x400000, 0x500000, "/bin/prog");
    append_module(writer, 0, 0x700000, 0x800000, "/lib/a.so");
    append_read(writer, 0, 0x700020);
    append_module(writer, 0, 0x6ff000, 0x800000, "/lib/b.so");
    append_read(writer, 0, 0x700020);
    append_read(writer, 0, 0x400010);
    append_record(writer, wire::RecordKind::kExec, 0, wire::ExecRecord{}, test::text_tail("/bin/other"));
    append_module(writer, 0, 0x400000, 0x500000, "/bin/other");
    append_read(writer, 0, 0x400010);
    writer.finish();
  }
  TraceReader reader(scratch / "t.rwt");
  TraceChunk chunk;
  BOOST_REQUIRE(reader.next(chunk));
  const auto path_at = [&](std::size_t i) {
    return reader.info().modules[reader.site_location(chunk.site[i]).module].path;
  };
  BOOST_TEST(path_at(0) == "/lib/a.so");
  BOOST_TEST(path_at(1) == "/lib/b.so");
  BOOST_TEST(path_at(2) == "/bin/prog");
  BOOST_TEST(path_at(3) == "/bin/other");
}

}  // namespace reweave

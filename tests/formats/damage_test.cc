// Damaged and hostile files give an error or a correct prefix, never a crash, for any byte changed or missing.
#define BOOST_TEST_MODULE damage
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <random>

#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "tests/formats/events.h"
#include "tests/formats/records.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

using test::Record;

std::vector<Record> small_stream() {
  std::vector<Record> records = test::one_of_each();
  for (const Record& record : test::random_stream(20, 1)) records.push_back(record);
  return records;
}

// Writes two blocks of events, so that intact events precede damage in the second one.
void write_recording(const std::string& path, const std::vector<Record>& records) {
  Manifest manifest;
  manifest.command_line = {"prog"};
  manifest.files = {{"/lib/libc.so.6", 1, 2, 3, 4, "abcdef", "", ""}};
  manifest.processes = {{0, 0, 100, "/bin/prog", 0}};
  RecordingWriter writer(path, manifest);
  for (std::size_t i = 0; i < records.size(); ++i) {
    writer.append(test::header_of(records[i]));
    if (i == records.size() / 2) writer.flush();
  }
  writer.finish(manifest);
}

// Reads the recording. Returns true if it was read to its end without an error. Every record read must be right.
bool reads_whole(const std::string& path, const std::vector<Record>& records) {
  std::size_t count = 0;
  try {
    RecordingReader reader(path);
    while (const wire::RecordHeader* record = reader.next()) {
      if (count == records.size() || record->bytes != records[count].size() * 8 ||
          std::memcmp(record, records[count].data(), record->bytes) != 0)
        BOOST_FAIL("record " << count << " is wrong");
      ++count;
    }
    return !reader.truncated() && count == records.size();
  } catch (const Error&) {
    return false;
  }
}

test::PackedEvents small_trace() { return test::random_events(300, 1); }

void write_trace(const std::string& path, const test::PackedEvents& events) {
  TraceWriter writer(path, {"0.1.0", {"prog"}, "rec"});
  writer.append_record(test::header_of(test::make_record(
      wire::RecordKind::kModule, 0, wire::ModuleRecord{{}, 0, 0x10, 0x1000}, test::text_tail("/bin/prog"))));
  for (std::size_t i = 0; i < events.count(); ++i) {
    writer.append(events[i]);
    if (i % 100 == 99) writer.flush();
  }
  writer.finish();
}

bool reads_whole(const std::string& path, const test::PackedEvents& events) {
  std::size_t count = 0;
  try {
    TraceReader reader(path);
    TraceChunk chunk;
    while (reader.next(chunk)) {
      for (std::size_t i = 0; i < chunk.size(); ++i, ++count) {
        const TraceEvent event = events.event(count);
        if (chunk.address[i] != event.address || reader.pc_of(chunk.site[i]) != event.pc || chunk.kind[i] != event.kind)
          BOOST_FAIL("event " << count << " is wrong");
      }
    }
    return reader.info().complete && count == events.count();
  } catch (const Error&) {
    return false;
  }
}

// Changes every single byte of `file` in two ways, and cuts the file at every length: the reader must never accept it
// as whole.
template <typename Stream>
void damage_every_byte(const std::string& file, const std::string& whole, const Stream& expected) {
  const std::string sound = test::read_bytes(file);
  BOOST_TEST_REQUIRE(reads_whole(whole, expected));
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const int change : {0x01, 0xff}) {
      std::string bytes = sound;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      test::write_bytes(file, bytes);
      if (reads_whole(whole, expected)) BOOST_FAIL("byte " << i << " changed unnoticed");
    }
    test::write_bytes(file, sound.substr(0, i));
    if (reads_whole(whole, expected)) BOOST_FAIL("cut at " << i << " unnoticed");
  }
  test::write_bytes(file, sound + "x");
  if (reads_whole(whole, expected)) BOOST_FAIL("a byte behind the end unnoticed");
  test::write_bytes(file, sound);
}

// Copies the blocks of `from` after mutate(payload), with valid framing and checksums, as a hostile writer would.
template <typename Mutate>
void rewrite(const std::string& from, const std::string& to, FileType type, Mutate&& mutate) {
  std::filesystem::remove(to);
  BlockReader reader(from, type);
  BlockWriter writer(to, type);
  Block block;
  while (reader.next(block)) {
    std::vector<std::byte> payload(block.payload().begin(), block.payload().end());
    mutate(payload);
    writer.write(block.type(), payload);
  }
  writer.finish();
}

void change_some_bytes(std::vector<std::byte>& payload, std::mt19937_64& random) {
  if (payload.empty() || random() % 3 == 0) return;
  for (auto changes = 1 + random() % 3; changes > 0; --changes)
    payload[random() % payload.size()] = static_cast<std::byte>(random());
  if (random() % 20 == 0) payload.resize(random() % payload.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_byte_of_the_events) {
  test::Scratch scratch;
  const auto records = small_stream();
  write_recording(scratch / "r", records);
  damage_every_byte(scratch / "r/events", scratch / "r", records);
}

BOOST_AUTO_TEST_CASE(every_byte_of_the_manifest) {
  test::Scratch scratch;
  const auto records = small_stream();
  write_recording(scratch / "r", records);
  damage_every_byte(scratch / "r/manifest", scratch / "r", records);
}

BOOST_AUTO_TEST_CASE(every_byte_of_a_trace) {
  test::Scratch scratch;
  const auto events = small_trace();
  write_trace(scratch / "t", events);
  damage_every_byte(scratch / "t", scratch / "t", events);
}

BOOST_AUTO_TEST_CASE(hostile_events) {
  test::Scratch scratch;
  write_recording(scratch / "r", small_stream());
  std::filesystem::rename(scratch / "r/events", scratch / "sound");
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    rewrite(scratch / "sound", scratch / "r/events", FileType::kEvents,
            [&](std::vector<std::byte>& payload) { change_some_bytes(payload, random); });
    try {
      RecordingReader reader(scratch / "r");
      while (reader.next() != nullptr) {
      }
    } catch (const Error&) {
    }
  }
}

BOOST_AUTO_TEST_CASE(hostile_manifests) {
  test::Scratch scratch;
  write_recording(scratch / "r", small_stream());
  std::filesystem::rename(scratch / "r/manifest", scratch / "sound");
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    rewrite(scratch / "sound", scratch / "r/manifest", FileType::kManifest,
            [&](std::vector<std::byte>& payload) { change_some_bytes(payload, random); });
    try {
      read_manifest(Folder::open(scratch / "r"));
    } catch (const Error&) {
    }
  }
}

BOOST_AUTO_TEST_CASE(hostile_traces) {
  test::Scratch scratch;
  write_trace(scratch / "sound", small_trace());
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    rewrite(scratch / "sound", scratch / "t", FileType::kTrace,
            [&](std::vector<std::byte>& payload) { change_some_bytes(payload, random); });
    try {
      TraceReader reader(scratch / "t");
      TraceChunk chunk;
      while (reader.next(chunk))
        for (const std::uint32_t site : chunk.site) reader.site_location(site);
    } catch (const Error&) {
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_ours_is_named) {
  test::Scratch scratch;
  write_trace(scratch / "t", small_trace());
  test::write_bytes(scratch / "text", "hello, world, this is text");
  test::write_bytes(scratch / "empty", "");
  const auto damage_of = [&](const std::string& path, FileType type) {
    try {
      BlockReader reader(path, type);
    } catch (const BadFile& bad) {
      BOOST_TEST(bad.path() == path);
      BOOST_TEST(bad.exit_code() == kExitBadInput);
      return bad.damage();
    }
    BOOST_FAIL("accepted");
    return Damage::kCorrupt;
  };
  BOOST_TEST((damage_of(scratch / "t", FileType::kEvents) == Damage::kWrongType));
  BOOST_TEST((damage_of(scratch / "text", FileType::kTrace) == Damage::kWrongType));
  BOOST_TEST((damage_of(scratch / "empty", FileType::kTrace) == Damage::kWrongType));
  for (const std::uint32_t version : {kFormatVersion - 1, kFormatVersion + 1}) {
    std::string other = test::read_bytes(scratch / "t");
    other[8] = static_cast<char>(version);
    test::write_bytes(scratch / "other", other);
    BOOST_TEST((damage_of(scratch / "other", FileType::kTrace) == Damage::kOtherVersion));
  }
  BOOST_CHECK_THROW(RecordingReader(scratch / "t"), BadInput);
  BOOST_CHECK_THROW(RecordingReader(scratch / "nothing"), BadInput);
}

}  // namespace reweave

// Round trips of recordings: every record kind, random records, manifests; truncation and damage.
#define BOOST_TEST_MODULE recording
#include <capnp/message.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "formats/base/column.h"
#include "formats/recording/event_encoder.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "tests/formats/records.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

using test::Record;

Record copy_of(const wire::RecordHeader* record) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(record);
  return {words, words + record->bytes / 8};
}

Manifest sample_manifest() {
  Manifest manifest;
  manifest.tool_version = "0.1.0";
  manifest.command_line = {"/bin/prog", "--flag", "", "two words"};
  manifest.environment = {"PATH=/bin", "X="};
  manifest.working_directory = "/home/user";
  manifest.start_time_ns = 1'700'000'000'000'000'000;
  manifest.host_kernel = "6.1.0";
  manifest.cpu_model = "Some CPU";
  manifest.seed = ~0ull;
  manifest.chaos = true;
  manifest.policy = "random";
  manifest.checksums = true;
  manifest.outcome = wire::OutcomeKind::kDeadlock;
  manifest.outcome_text = "two threads";
  manifest.wait_status = 9;
  manifest.processes = {{0, 0, 100, "/bin/prog", 0}, {1, 0, 101, "/bin/sh", 256}};
  manifest.files = {{"/lib/libc.so.6", 1, 2, 3, 4, "abcdef", "", ""},
                    {"/tmp/d", 5, 6, 7, 8, "", "0123456789abcdef", "0123456789abcdef"}};
  manifest.parent = "other";
  return manifest;
}

void write_recording(const std::string& path, const std::vector<Record>& records) {
  RecordingWriter writer(path, sample_manifest());
  for (const Record& record : records) writer.append(test::header_of(record));
  writer.finish(sample_manifest());
}

// Reads all records; each must be the expected one.
std::size_t read_and_compare(const std::string& path, const std::vector<Record>& records) {
  RecordingReader reader(path);
  std::size_t count = 0;
  while (const wire::RecordHeader* record = reader.next()) {
    BOOST_REQUIRE_LT(count, records.size());
    if (copy_of(record) != records[count]) BOOST_FAIL("record " << count << " differs");
    ++count;
    BOOST_REQUIRE_EQUAL(reader.position(), count);
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_kind_survives) {
  test::Scratch scratch;
  write_recording(scratch / "r", test::one_of_each());
  BOOST_TEST(read_and_compare(scratch / "r", test::one_of_each()) == test::one_of_each().size());
}

BOOST_AUTO_TEST_CASE(random_records_survive) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Scratch scratch;
    const auto records = test::random_stream(5000, seed);
    write_recording(scratch / "r", records);
    BOOST_TEST(read_and_compare(scratch / "r", records) == records.size());
  }
}

BOOST_AUTO_TEST_CASE(realistic_records_survive) {
  test::Scratch scratch;
  const auto records = test::realistic_stream(50000, 1);
  write_recording(scratch / "r", records);
  BOOST_TEST(read_and_compare(scratch / "r", records) == records.size());
}

BOOST_AUTO_TEST_CASE(reading_begins_anywhere) {
  test::Scratch scratch;
  const auto records = test::realistic_stream(50000, 2);
  write_recording(scratch / "r", records);
  for (const std::size_t position : {std::size_t{0}, std::size_t{1}, records.size() / 3, records.size() / 2,
                                     records.size() - 1, records.size(), records.size() + 7}) {
    RecordingReader reader(scratch / "r");
    reader.skip_to(position);
    std::size_t at = position;
    for (int i = 0; i < 100; i++, at++) {
      const wire::RecordHeader* record = reader.next();
      BOOST_REQUIRE_EQUAL(record != nullptr, at < records.size());
      if (record == nullptr) break;
      if (copy_of(record) != records[at]) BOOST_FAIL("record " << at << " differs");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_full_ring_costs_compression_and_nothing_else) {
  test::Scratch scratch;
  std::vector<Record> records;
  for (int i = 0; i < 40; i++)
    for (const Record& record : test::one_of_each()) records.push_back(record);
  std::uint64_t relaxed = 0;
  for (const unsigned percent : {0u, 15u, 30u, 100u, 7u}) {
    const std::string path = scratch / std::to_string(percent);
    RecordingWriter writer(path, sample_manifest());
    writer.set_pressure(percent);
    for (const Record& record : records) writer.append(test::header_of(record));
    writer.finish(sample_manifest());
    BOOST_TEST(read_and_compare(path, records) == records.size());
    if (percent == 0) relaxed = writer.bytes_written();
    BOOST_TEST((percent < 10) == (writer.bytes_written() == relaxed));
  }
}

BOOST_AUTO_TEST_CASE(manifest_survives) {
  test::Scratch scratch;
  write_recording(scratch / "r", {});
  Manifest expected = sample_manifest();
  expected.complete = true;
  RecordingReader reader(scratch / "r");
  BOOST_TEST((reader.manifest() == expected));
  BOOST_TEST((reader.next() == nullptr));
  BOOST_TEST(!reader.truncated());
}

BOOST_AUTO_TEST_CASE(an_existing_directory_is_refused) {
  test::Scratch scratch;
  write_recording(scratch / "r", {});
  BOOST_CHECK_THROW(RecordingWriter(scratch / "r", sample_manifest()), BadInput);
  struct stat status {};
  BOOST_REQUIRE_EQUAL(::stat((scratch / "r").c_str(), &status), 0);
  BOOST_TEST((status.st_mode & 0777) == 0700u);
}

BOOST_AUTO_TEST_CASE(a_killed_writer_loses_nothing_flushed) {
  test::Scratch scratch;
  const auto records = test::one_of_each();
  {
    RecordingWriter writer(scratch / "r", sample_manifest());
    for (const Record& record : records) writer.append(test::header_of(record));
    writer.flush();
    writer.append(test::header_of(records[0]));
  }
  RecordingReader reader(scratch / "r");
  BOOST_TEST(!reader.manifest().complete);
  std::size_t count = 0;
  while (reader.next() != nullptr) ++count;
  BOOST_TEST(count == records.size());
  BOOST_TEST(reader.truncated());
  BOOST_TEST((reader.truncation().damage() == Damage::kTruncated));
}

BOOST_AUTO_TEST_CASE(records_that_no_recording_holds_are_refused) {
  test::Scratch scratch;
  RecordingWriter writer(scratch / "r", sample_manifest());
  const wire::RecordHeader odd{1, 0, 12}, none{0, 0, 8}, tagged{wire::kTraceTag, 0, 16};
  BOOST_CHECK_THROW(writer.append(&odd), BadInput);
  BOOST_CHECK_THROW(writer.append(&none), BadInput);
  BOOST_CHECK_THROW(writer.append(&tagged), BadInput);
}

BOOST_AUTO_TEST_CASE(a_large_record_survives) {
  test::Scratch scratch;
  std::vector<Record> records = test::one_of_each();
  records.push_back(
      test::make_call(0, 0, 20 << 20, 1, 2, {0, 4096}, test::output_tail(4096, std::string(20 << 20, 'x'))));
  records.push_back(records.back());
  records.push_back(records.front());
  write_recording(scratch / "r", records);
  BOOST_TEST(read_and_compare(scratch / "r", records) == records.size());
}

// A call whose output is stored apart from its record reads back as the same call with the output inside.
BOOST_AUTO_TEST_CASE(an_output_apart_survives) {
  test::Scratch scratch;
  const std::string data = std::string(5000, 'x') + "end";
  std::vector<Record> records = test::one_of_each();
  const auto bytes = static_cast<std::int64_t>(data.size());
  records.push_back(test::make_call(0, 0, bytes, 1, 2, {3, 4096, 8192}, test::output_tail(4096, data)));
  const std::vector<Record> expected = [&] {
    std::vector<Record> twice = records;
    twice.push_back(records.back());
    twice.push_back(records.front());
    return twice;
  }();
  {
    RecordingWriter writer(scratch / "r", sample_manifest());
    for (std::size_t i = 0; i + 1 < records.size(); i++) writer.append(test::header_of(records[i]));
    const wire::StoredApart stored = writer.store_apart(reinterpret_cast<const std::byte*>(data.data()), data.size());
    Record apart = records.back();
    constexpr std::size_t kKeptWords = (sizeof(wire::SyscallRecord) + sizeof(wire::OutputChunk)) / 8;
    apart.resize(kKeptWords);
    apart.insert(apart.end(), {stored.position, stored.hash});
    auto& call = *reinterpret_cast<wire::SyscallRecord*>(apart.data());
    call.flags |= wire::kOutputApart;
    call.header.bytes = static_cast<std::uint32_t>(apart.size() * 8);
    writer.append(test::header_of(apart));
    writer.append(test::header_of(apart));
    writer.append(test::header_of(records.front()));
    writer.finish(sample_manifest());
  }
  BOOST_TEST(read_and_compare(scratch / "r", expected) == expected.size());
}

// The block of a call whose output is stored apart does not contain the output, so its size does not limit the claimed
// length.
BOOST_AUTO_TEST_CASE(an_output_apart_is_not_larger_than_a_record) {
  Record apart = test::make_call(0, 0, 16, 1, 2, {3, 4096, 8192}, test::output_tail(4096, std::string(16, 'x')));
  reinterpret_cast<wire::SyscallRecord*>(apart.data())->flags |= wire::kOutputApart;
  for (const std::int64_t length : {std::int64_t{-6}, std::int64_t{-9}, std::int64_t{kMaxRecordBytes} + 1}) {
    EventEncoder encoder;
    encoder.add(test::header_of(apart));
    capnp::MallocMessageBuilder message;
    auto block = message.initRoot<schema::EventBlock>();
    encoder.emit(block);
    ColumnWriter results;  // the output is as long as the result
    results.put_delta(static_cast<std::uint64_t>(length), 0);
    block.getSyscalls().setResults(data_of(results.bytes()));
    EventDecoder decoder(nullptr);
    decoder.start(block.asReader());
    BOOST_CHECK_EXCEPTION(decoder.next(), Malformed, [](const Malformed& problem) {
      return std::string(problem.what()).find("exceeds the limit") != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(outputs_apart_are_checked) {
  test::Scratch scratch;
  const Folder folder = Folder::open(scratch / "");
  const std::string data(300, 'x');
  std::uint8_t room[400];
  BOOST_CHECK_THROW(ApartReader(folder).read({0, 0}, 1, room), BadFile);
  ApartWriter writer(folder);
  const wire::StoredApart stored = writer.store(reinterpret_cast<const std::byte*>(data.data()), data.size());
  ApartReader reader(folder);
  reader.read(stored, data.size(), room);
  BOOST_TEST(std::string(room, room + data.size()) == data);
  BOOST_CHECK_THROW(reader.read({stored.position, stored.hash + 1}, data.size(), room), BadFile);
  BOOST_CHECK_THROW(reader.read({stored.position + 1, stored.hash}, data.size(), room), BadFile);
  BOOST_CHECK_THROW(reader.read({~0ull, stored.hash}, data.size(), room), BadFile);
}

}  // namespace reweave

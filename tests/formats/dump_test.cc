// Dumps and info: readable, complete up to damage, safe to show.
#define BOOST_TEST_MODULE dump
#include <boost/test/unit_test.hpp>

#include "formats/base/json_text.h"
#include "formats/recording/recording_writer.h"
#include "formats/trace/dump.h"
#include "formats/trace/traceinfo.h"
#include "tests/formats/events.h"
#include "tests/formats/records.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

// Returns the output of `dump`; sets `failed` if it threw BadFile.
template <typename Dump>
std::string captured(Dump&& dump, bool* failed = nullptr) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  try {
    dump(out);
  } catch (const BadFile&) {
    BOOST_REQUIRE(failed != nullptr);
    *failed = true;
  }
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void write_recording(const std::string& path, bool finish) {
  RecordingWriter writer(path, {});
  for (const auto& record : test::one_of_each()) writer.append(test::header_of(record));
  writer.flush();
  if (finish) writer.finish({});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_recording_line_by_line) {
  test::Scratch scratch;
  write_recording(scratch / "r", true);
  RecordingReader reader(scratch / "r");
  DumpOptions options;
  options.call_name = [](unsigned number) { return number == 0 ? "read" : std::to_string(number); };
  options.payload_bytes = 4;
  const std::string text = captured([&](std::FILE* out) { dump_recording(reader, out, options); });
  BOOST_TEST(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == test::one_of_each().size());
  BOOST_TEST(contains(text, "5 t0 switch to t1, in kernel, step 7, timed out\n"));
  BOOST_TEST(contains(text, "7 t1 call read(0x3, 0x1000, 0x1000, 0x0, 0x0, 0x0) = 5 step 8"));
  BOOST_TEST(contains(text, "[5 bytes at 0x1000: \"hell\"]"));
  BOOST_TEST(contains(text, "= -9 (EBADF)"));
  BOOST_TEST(contains(text, "outcome deadlock, detail -1, step 99: A waits B"));
}

BOOST_AUTO_TEST_CASE(a_range_of_one_thread) {
  test::Scratch scratch;
  write_recording(scratch / "r", true);
  RecordingReader reader(scratch / "r");
  DumpOptions options;
  options.first = 4;
  options.end = 8;
  options.thread = 1;
  const std::string text = captured([&](std::FILE* out) { dump_recording(reader, out, options); });
  BOOST_TEST(text.substr(0, 5) == "6 t1 ");
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 2);
}

BOOST_AUTO_TEST_CASE(all_before_the_cut_is_shown) {
  test::Scratch scratch;
  write_recording(scratch / "r", false);
  RecordingReader reader(scratch / "r");
  bool failed = false;
  const std::string text = captured([&](std::FILE* out) { dump_recording(reader, out, {}); }, &failed);
  BOOST_TEST(failed);
  BOOST_TEST(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == test::one_of_each().size());
}

BOOST_AUTO_TEST_CASE(records_of_any_bytes_can_be_described) {
  for (const auto& record : test::random_stream(20000, 3)) describe_record(test::header_of(record), {});
  BOOST_TEST(escaped("a\x1b[2J\"\\") == "a\\x1b[2J\\x22\\x5c");
}

BOOST_AUTO_TEST_CASE(a_trace_line_by_line) {
  test::Scratch scratch;
  const auto events = test::random_events(1000, 1);
  {
    TraceWriter writer(scratch / "t", {});
    for (std::size_t i = 0; i < events.count(); ++i) writer.append(events[i]);
    writer.finish();
  }
  TraceReader reader(scratch / "t");
  const std::string text = captured([&](std::FILE* out) { dump_trace(reader, out, {}); });
  BOOST_TEST(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == events.count());
  BOOST_TEST(contains(text, fmt::format("0 t{} {} {:#x}", events.event(0).thread, name_of(events.event(0).kind),
                                        events.event(0).address)));
  BOOST_TEST(trace_info(reader)["events"] == 1000);
}

BOOST_AUTO_TEST_CASE(info_is_json_whatever_the_bytes) {
  test::Scratch scratch;
  Manifest manifest;
  manifest.command_line = {"prog", "\xff\xfe"};
  manifest.outcome = wire::OutcomeKind::kSignalled;
  RecordingWriter(scratch / "r", {}).finish(manifest);
  const auto json = nlohmann::json::parse(json_text(recording_info(RecordingReader(scratch / "r"))));
  BOOST_TEST(json["complete"] == true);
  BOOST_TEST(json["outcome"] == "signalled");
}

}  // namespace reweave

// Writes the first inputs of each fuzz target: make_corpus FOLDER fills FOLDER/fuzz_recording and so on.
#include <cstdio>

#include "formats/recording/recording_writer.h"
#include "formats/recording/schedule.h"
#include "formats/trace/candidates.h"
#include "formats/trace/trace_writer.h"
#include "scripts/fuzz/fuzz_files.h"
#include "tests/formats/events.h"
#include "tests/formats/records.h"

namespace reweave {
namespace {

void keep(const std::string& folder, const std::string& name, const std::string& file, FileType type) {
  std::filesystem::create_directories(folder);
  const auto input = fuzz::framed(file, type);
  std::ofstream(folder + "/" + name, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
}

Manifest sample_manifest() {
  Manifest manifest;
  manifest.command_line = {"prog", "arg"};
  manifest.processes = {{0, 0, 100, "/bin/prog", 0}};
  manifest.files = {{"/lib/libc.so.6", 1, 2, 3, 4, "abcdef", "", "0123456789abcdef"}};
  return manifest;
}

void make_recordings(const std::string& out, const std::string& work) {
  const std::vector<test::Record> streams[] = {test::one_of_each(), test::realistic_stream(60, 1, 16),
                                               test::random_stream(30, 1)};
  for (std::size_t i = 0; i < std::size(streams); ++i) {
    const std::string path = work + "/r" + std::to_string(i);
    RecordingWriter writer(path, sample_manifest());
    for (const auto& record : streams[i]) writer.append(test::header_of(record));
    writer.finish(sample_manifest());
    keep(out + "/fuzz_recording", std::to_string(i), path + "/events", FileType::kEvents);
    keep(out + "/fuzz_manifest", std::to_string(i), path + "/manifest", FileType::kManifest);
  }
}

void make_traces(const std::string& out, const std::string& work) {
  const test::PackedEvents streams[] = {test::loop_events(100, 1), test::irregular_events(100, 1),
                                        test::random_events(60, 1)};
  for (std::size_t i = 0; i < std::size(streams); ++i) {
    const std::string path = work + "/t" + std::to_string(i);
    TraceWriter writer(path, {"1", {"prog"}, "rec"});
    for (const auto& record : test::one_of_each()) writer.append_record(test::header_of(record));
    for (std::size_t event = 0; event < streams[i].count(); ++event) {
      writer.append(streams[i][event]);
      if (event == 40) writer.flush();
    }
    writer.finish();
    keep(out + "/fuzz_trace", std::to_string(i), path, FileType::kTrace);
  }
}

void make_messages(const std::string& out, const std::string& work) {
  write_schedule(work + "/s", {"pct", 1, {{1, 0, 1}, {2, 1, 0}}, {{"depth", "3"}}});
  keep(out + "/fuzz_manifest", "schedule", work + "/s", FileType::kSchedule);
  CandidateSet set{"t", "races", {{"/bin/prog", "ab", 1, "a.cc", 2, "main"}}, {}};
  set.candidates.push_back({CandidateKind::kRace, {{0, 1, EventKind::kRead, 0, 4, "x", {0}}}, {{}}, 1, 1});
  write_candidates(work + "/c", set);
  keep(out + "/fuzz_manifest", "candidates", work + "/c", FileType::kCandidates);
}

void make_text(const std::string& out) {
  std::filesystem::create_directories(out + "/fuzz_std");
  std::ofstream(out + "/fuzz_std/field")
      << "T0|begin|0\nT0|fork(T1)|1\nT0|acq(L1)|2\nT0|w(V.a[3])|42\nT0|rel(L1)|3\nT1|r(V.a[3])|7\nT0|join(1)|10\n";
  std::ofstream(out + "/fuzz_std/ours")
      << "T0|alloc(@5000+32)|3\nT0|au(@5008+4/5)|22\nT1|wait(@90,@80)|24\nT0|notifyAll(@90)|26\nT1|woken(@90,@80)|27\n"
         "T0|free(@5000)|30\nT0|br|31\nT0|exit|32\n";
}

}  // namespace
}  // namespace reweave

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: make_corpus FOLDER\n", stderr), 2;
  const std::string work = reweave::fuzz::folder();
  reweave::make_recordings(argv[1], work);
  reweave::make_traces(argv[1], work);
  reweave::make_messages(argv[1], work);
  reweave::make_text(argv[1]);
  return 0;
}

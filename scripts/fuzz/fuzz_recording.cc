// Fuzzes the reading of recordings: the events file, and dumps of what it holds.
#include "formats/recording/recording_writer.h"
#include "formats/trace/dump.h"
#include "scripts/fuzz/fuzz_files.h"

namespace reweave {
namespace {

std::string recording() {
  static const std::string kPath = [] {
    const std::string path = fuzz::folder() + "/r";
    RecordingWriter writer(path, {});  // never finished: any number of events will do
    return path;
  }();
  return kPath;
}

void read_all(const std::string& path) {
  RecordingReader reader(path);
  const DumpOptions options{.call_name = {}, .payload_bytes = 16};
  while (const wire::RecordHeader* record = reader.next()) describe_record(record, options);
}

}  // namespace
}  // namespace reweave

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reweave;
  const std::string path = recording();
  fuzz::write_input(path + "/events", FileType::kEvents, data, size);
  try {
    read_all(path);
  } catch (const Error&) {
  }
  return 0;
}

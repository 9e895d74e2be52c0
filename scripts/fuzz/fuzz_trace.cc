// Fuzzes the reading of traces: index, names, chunks, places of sites.
#include "formats/trace/dump.h"
#include "formats/trace/trace_reader.h"
#include "scripts/fuzz/fuzz_files.h"

namespace reweave {
namespace {

void read_all(const std::string& path) {
  TraceReader reader(path);
  TraceChunk chunk;
  while (reader.next(chunk))
    for (const std::uint32_t site : chunk.site) reader.site_location(site);
}

}  // namespace
}  // namespace reweave

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reweave;
  const std::string path = fuzz::folder() + "/t.rwt";
  fuzz::write_input(path, FileType::kTrace, data, size);
  try {
    read_all(path);
  } catch (const Error&) {
  }
  return 0;
}

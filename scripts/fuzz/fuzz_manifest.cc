// Fuzzes the files that are one message: manifests, schedules, candidates.
#include "formats/recording/manifest.h"
#include "formats/recording/schedule.h"
#include "formats/trace/candidates.h"
#include "scripts/fuzz/fuzz_files.h"

namespace {

template <typename Read>
void try_reading(reweave::FileType type, const std::uint8_t* data, std::size_t size, Read&& read) {
  const std::string path = reweave::fuzz::folder() + "/manifest";
  reweave::fuzz::write_input(path, type, data, size);
  try {
    read(path);
  } catch (const reweave::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reweave;
  try_reading(FileType::kManifest, data, size, [](const std::string&) { read_manifest(Folder::open(fuzz::folder())); });
  try_reading(FileType::kSchedule, data, size, read_schedule);
  try_reading(FileType::kCandidates, data, size, read_candidates);
  return 0;
}

#include "explorer/searches/hapset_store.h"

#include <filesystem>
#include <map>

#include "formats/base/error.h"
#include "formats/base/fd_stream.h"
#include "formats/base/output_file.h"

namespace reweave {

namespace {

constexpr const char* kFirstLine = "reweave predecessor sets 1";

}  // namespace

void HapsetStore::load(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  FdInput file(open_regular(path));
  std::string line;
  std::getline(file, line);
  REQUIRE(line == kFirstLine, "{} does not hold predecessor sets", path);
  std::uint64_t first = 0, second = 0;
  while (file >> std::hex >> first >> second) seen_.insert({first, second});
  REQUIRE(file.eof(), "{} is damaged", path);
}

void HapsetStore::save(const std::string& path) const {
  OutputFile output(path);
  FdOutput file(output.take());
  file << kFirstLine << "\n" << std::hex;
  for (const auto& [first, second] : seen_) file << first << " " << second << "\n";
  file.close();
  REQUIRE(file.good(), "{}: cannot be written", path);
  output.commit();
}

void HapsetStore::learn(const Observation& run) {
  // By object, each thread's latest operation on it.
  std::map<std::uint64_t, std::map<ThreadId, ChoiceNote>> latest;
  for (std::size_t i = 0; i < run.size(); i++) {
    if (run[i].object == 0 || kind_of(run[i]) == OpKind::kUnlock) continue;
    auto& of_object = latest[run[i].object & ~std::uint64_t{7}];
    for (const auto& [thread, note] : of_object)
      if (thread != run[i].thread && dependent(note, run[i])) seen_.insert({note.pc, run[i].pc});
    of_object[run[i].thread] = run[i];
  }
}

}  // namespace reweave

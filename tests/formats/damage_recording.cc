// Changes every byte of the given recordings and cuts each of their files at every length, in turn:
//   damage_recording RECORDING...
// Each case must give an error or a truncation, and everything that is read before it must be as recorded. Prints the
// number of cases; exits with 1 if a case went unnoticed. Changes the recordings while it runs.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "formats/recording/recording_reader.h"
#include "formats/trace/dump.h"
#include "tests/formats/scratch.h"

using namespace reweave;

namespace {

// Returns all records, one after the other.
std::string records_of(const std::string& path) {
  std::string all;
  RecordingReader reader(path);
  while (const wire::RecordHeader* record = reader.next())
    all.append(reinterpret_cast<const char*>(record), record->bytes);
  return all;
}

enum class Seen { kNoticed, kUnnoticed, kWrong };

Seen look_at(const std::string& path, const std::string& expected) {
  std::size_t at = 0;
  try {
    RecordingReader reader(path);
    while (const wire::RecordHeader* record = reader.next()) {
      describe_record(record, {});
      if (expected.compare(at, record->bytes, reinterpret_cast<const char*>(record), record->bytes) != 0)
        return Seen::kWrong;
      at += record->bytes;
    }
    return reader.truncated() ? Seen::kNoticed : Seen::kUnnoticed;
  } catch (const Error&) {
    return Seen::kNoticed;
  }
}

struct Count {
  std::uint64_t damages = 0, missed = 0;
};

void damage_file(const std::string& recording, const std::string& name, const std::string& expected, Count& count) {
  const std::string file = recording + "/" + name, sound = test::read_bytes(file);
  const auto try_bytes = [&](const std::string& bytes, const char* what, std::size_t at) {
    test::write_bytes(file, bytes);
    ++count.damages;
    const Seen seen = look_at(recording, expected);
    if (seen == Seen::kNoticed) return;
    ++count.missed;
    std::printf("%s: byte %zu %s: %s\n", file.c_str(), at, what, seen == Seen::kWrong ? "read wrongly" : "unnoticed");
  };
  std::string changed = sound;
  for (std::size_t at = 0; at < sound.size(); ++at) {
    changed[at] = static_cast<char>(~sound[at]);
    try_bytes(changed, "changed", at);
    changed[at] = sound[at];
    try_bytes(sound.substr(0, at), "cut", at);
  }
  test::write_bytes(file, sound);
}

}  // namespace

int main(int argc, char** argv) try {
  Count count;
  for (int i = 1; i < argc; ++i) {
    const std::string expected = records_of(argv[i]);
    for (const char* name : {"events", "manifest"}) damage_file(argv[i], name, expected, count);
  }
  std::printf("%d recordings, %lu damages, %lu missed\n", argc - 1, count.damages, count.missed);
  return count.missed == 0 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}

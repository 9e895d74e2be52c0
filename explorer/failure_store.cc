#include "explorer/failure_store.h"

#include <filesystem>

#include <sys/wait.h>

#include "formats/error.h"
#include "formats/recording_writer.h"
#include "replayer/replay_session.h"

namespace reweave {

void save_run(const std::string& parent, const Departure& departure, const RunResult& run, const std::string& policy,
              const std::string& path) {
  RecordingReader source(parent);
  Manifest manifest = source.manifest();
  manifest.policy = policy;
  manifest.parent = std::filesystem::absolute(parent).string();
  manifest.heap_checks = true;
  manifest.checksums = false;
  manifest.wait_status = run.wait_status;
  manifest.outcome = run.outcome;
  manifest.outcome_text = run.text;
  manifest.outcome_detail = WIFSIGNALED(run.wait_status) ? WTERMSIG(run.wait_status) : WEXITSTATUS(run.wait_status);
  if (manifest.processes.size() > 1) manifest.processes.resize(1);
  if (!manifest.processes.empty()) manifest.processes.front().wait_status = run.wait_status;
  RecordingWriter writer(path, manifest);
  for (const MappedFile& file : manifest.files)
    if (const std::string stored = source.stored_path(file); !stored.empty()) writer.store_file(stored);
  for (std::uint64_t i = 0; i < departure.prefix_records; i++) {
    const wire::RecordHeader* record = source.next();
    CHECK(record != nullptr);
    writer.append(record);
  }
  for (std::size_t at = 0; at < run.records.size();) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(run.records.data() + at);
    CHECK(record->bytes >= sizeof *record && record->bytes <= run.records.size() - at);
    writer.append(record);
    at += record->bytes;
  }
  writer.finish(manifest);
}

unsigned verify_recording(const std::string& path, const RunResult& run, unsigned times) {
  unsigned same = 0;
  for (unsigned i = 0; i < times; i++) {
    ReplayOptions options;
    options.discard_output = true;
    const ReplayResult replayed = replay_recording(path, options);
    RunResult again;
    again.outcome = replayed.outcome;
    again.wait_status = replayed.text.empty() ? replayed.wait_status : 0;
    again.text = replayed.text;
    same += same_failure(again, run) ? 1 : 0;
  }
  return same;
}

}  // namespace reweave

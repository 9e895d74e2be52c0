#include "explorer/campaign/failure_store.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "explorer/run/race_check.h"
#include "explorer/words/last_words.h"
#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "formats/recording/process_notes.h"
#include "formats/recording/recording_writer.h"
#include "replayer/replay_session.h"

namespace reweave {

namespace {

void copy_stored_files(const RecordingReader& source, const RecordingWriter& writer) {
  std::set<std::string> names;
  for (const MappedFile& file : source.manifest().files) names.insert(file.stored_name);
  for (const DebugFile& file : source.manifest().debug_files) names.insert(file.stored_name);
  names.erase("");
  if (names.empty()) return;
  const Folder files = source.folder().open_folder("files");
  for (const std::string& name : names) writer.store_file(files.open_file(name), files.path_of(name));
}

}  // namespace

void save_run(const std::string& parent, const Departure& departure, const RunResult& run, const std::string& policy,
              const std::string& path, const std::string& told) {
  RecordingReader source(parent);
  Manifest manifest = source.manifest();
  manifest.policy = policy;
  manifest.parent = told.empty() ? std::filesystem::absolute(parent).string() : told;
  manifest.heap_checks = true;
  manifest.heap_checks_from = departure.from;
  manifest.checksums = false;
  manifest.wait_status = run.wait_status;
  manifest.outcome = run.outcome;
  manifest.outcome_text = run.text;
  manifest.outcome_detail = WIFSIGNALED(run.wait_status) ? WTERMSIG(run.wait_status) : WEXITSTATUS(run.wait_status);
  manifest.processes.clear();
  ProcessNotes processes(manifest.processes);
  RecordingWriter writer(path, manifest);
  copy_stored_files(source, writer);
  for (std::uint64_t i = 0; i < departure.prefix_records; i++) {
    const wire::RecordHeader* record = source.next();
    CHECK(record != nullptr);
    processes.note(record);
    writer.append(record);
  }
  for (std::size_t at = 0; at < run.records.size();) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(run.records.data() + at);
    CHECK(record->bytes >= sizeof *record && record->bytes <= run.records.size() - at);
    processes.note(record);
    writer.append(record);
    at += record->bytes;
  }
  if (!manifest.processes.empty())
    manifest.processes.front().wait_status = run.text.empty() ? run.wait_status : kStillRuns;
  writer.finish(manifest);
}

std::vector<std::byte> records_behind(const std::string& recording, const Departure& departure) {
  RecordingReader reader(recording);
  std::vector<std::byte> records;
  for (std::uint64_t i = 0; const wire::RecordHeader* record = reader.next(); i++) {
    const auto* bytes = reinterpret_cast<const std::byte*>(record);
    if (i >= departure.prefix_records) records.insert(records.end(), bytes, bytes + record->bytes);
  }
  return records;
}

bool replays_alike(const std::string& path, const RunResult& run, const ExpectedEndings& expected,
                   const std::string& check) {
  ReplayOptions options;
  options.discard_output = true;
  const ReplayResult replayed = replay_recording(path, options);
  RunResult again;
  again.outcome = replayed.outcome;
  again.wait_status = replayed.text.empty() ? replayed.wait_status : 0;
  again.text = replayed.text;
  expected.judge(again);
  const bool fails = run.outcome == wire::OutcomeKind::kCheckFailed &&
                     (run.races.empty() ? !output_passes(path, check) : race_of_recording(path, run.text).found);
  if (fails) {
    again.outcome = run.outcome;
    again.text = run.text;
  }
  return same_failure(again, run);
}

namespace {

// Starts `reweave replay` of the recording, with these descriptors as its standard output and error.
pid_t start_replay(const std::string& path, int output, int errors) {
  const pid_t pid = fork();
  SYSCALL_CHECK(pid, "starting a replay");
  if (pid != 0) return pid;
  dup2(output, 1);
  dup2(errors, 2);
  execl("/proc/self/exe", "reweave", "replay", path.c_str(), nullptr);
  _exit(98);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

bool output_passes(const std::string& path, const std::string& command) {
  int ends[2];
  SYSCALL_CHECK(pipe2(ends, O_CLOEXEC), "a pipe from a replay");
  const Fd null(SYSCALL_CHECK(open("/dev/null", O_WRONLY | O_CLOEXEC), "/dev/null"));
  const pid_t replay = start_replay(path, ends[1], null.get());
  const pid_t check = fork();
  SYSCALL_CHECK(check, "starting the check");
  if (check == 0) {
    dup2(ends[0], 0);
    dup2(null.get(), 1);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);
  close(ends[1]);
  wait_for(replay);
  const int status = wait_for(check);
  REQUIRE(!WIFEXITED(status) || WEXITSTATUS(status) != 127, "the check could not be run: {}", command);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string last_words_of(const std::string& path) {
  constexpr std::size_t kMostWords = 256 << 10;  // only the end of the output is examined
  int ends[2];
  SYSCALL_CHECK(pipe2(ends, O_CLOEXEC), "a pipe from a replay");
  const pid_t pid = start_replay(path, ends[1], ends[1]);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > 2 * kMostWords) text.erase(0, text.size() - kMostWords);
  }
  close(ends[0]);
  wait_for(pid);
  return last_words(text);
}

}  // namespace reweave

#include "explorer/record_passing.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "explorer/run/child.h"
#include "explorer/run/interruption.h"
#include "explorer/run/run.h"
#include "formats/base/error.h"
#include "formats/base/exit_status.h"
#include "formats/base/fd.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/record/recordings.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point deadline_in(double seconds) {
  if (seconds <= 0) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

RunResult recorded_run(const std::string& path, const ExpectedEndings& expected) {
  RunResult run = recorded_end(RecordingReader(path).manifest());
  expected.judge(run);
  return run;
}

// The recorder's last message in the program's output.
std::string message_of_recorder(const Fd& errors) {
  constexpr std::string_view kMark = "reweave: ";
  std::ifstream file("/proc/self/fd/" + std::to_string(errors.get()));
  std::string line, message;
  while (std::getline(file, line))
    if (line.starts_with(kMark)) message = line.substr(kMark.size());
  return message.empty() ? "the program cannot be recorded" : message;
}

}  // namespace

PassingRecording record_passing(const std::vector<std::string>& command, const ExpectedEndings& expected,
                                double seconds) {
  constexpr std::uint64_t kMostTries = 5;
  const Clock::time_point deadline = deadline_in(seconds);
  const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  PassingRecording recorded;
  while (recorded.tries < kMostTries && interruption() == 0) {
    const std::string path = new_recording_path(command.front());
    fs::remove(path);  // its recorder creates it
    const Fd errors(SYSCALL_CHECK(memfd_create("errors", MFD_CLOEXEC), "recording {}", command.front()));
    ChildCommand child;
    child.argv = {"reweave", "record", "-o", path, "--seed", std::to_string(++recorded.tries), "--"};
    child.argv.insert(child.argv.end(), command.begin(), command.end());
    child.output = null.get();
    child.errors = errors.get();
    const ChildEnd end = run_child(child, deadline);
    REQUIRE(!end.out_of_time, "{} had not ended when the time was up", command.front());
    if (interruption() != 0) break;
    if (!fs::exists(path) || !RecordingReader(path).is_whole()) throw Error(message_of_recorder(errors), end.status());
    const RunResult run = recorded_run(path, expected);
    if (!recorded.path.empty()) fs::remove_all(recorded.path);
    recorded.path = path;
    recorded.passed = !run.failed();
    if (recorded.passed) break;
    recorded.failure = describe_outcome(run);
  }
  if (!recorded.path.empty()) note_latest(recorded.path);
  return recorded;
}

std::size_t words_behind_mark() {
  std::ifstream line("/proc/self/cmdline", std::ios::binary);
  std::size_t words = 0;
  bool behind = false;
  for (std::string word; std::getline(line, word, '\0');) {
    words += behind ? 1 : 0;
    behind = behind || word == "--";
  }
  return words;
}

}  // namespace reweave

#include "replayer/replay_session.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <tuple>

#include "formats/dump.h"
#include "formats/error.h"
#include "formats/file_identity.h"
#include "recorder/supervisor/record_session.h"
#include "replayer/stack_answers.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFeedBytes = 64 << 20;
constexpr std::size_t kShownEvents = 8;  // in a Divergence report

// Files that the replay maps: the one on this machine if it is the same, else the copy in the recording. A name may
// have stood for several files in turn; they differ in their times or sizes.
class FileSubstitutes {
 public:
  explicit FileSubstitutes(const RecordingReader& reader) {
    for (const MappedFile& file : reader.manifest().files) {
      const std::string stored = reader.stored_path(file);
      if (!stored.empty()) {
        paths_[{file.path, file.ctime_ns, file.size}] = stored;
        continue;
      }
      const std::string difference = explain_difference(file);
      REQUIRE(difference.empty(), "{} is not the file that was recorded: {}. Restore that version, or record again",
              file.path, difference);
    }
  }
  const std::string* find(const wire::MapFileRecord& map) const {
    const auto found = paths_.find({reinterpret_cast<const char*>(&map + 1), map.ctime_ns, map.file_size});
    return found == paths_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::tuple<std::string, std::int64_t, std::uint64_t>, std::string> paths_;
};

class ReplaySession {
 public:
  ReplaySession(const std::string& path, const ReplayOptions& options)
      : options_(options), reader_(path), files_(reader_), arena_(kFeedBytes) {
    const Manifest& manifest = reader_.manifest();
    RunConfig& config = arena_.header().config;
    config = make_config(Mode::kReplay, manifest.seed, "native", find_runtime());
    config.stop_event = options.stop_event;
    const bool debugged = options.stop_event != ~std::uint64_t{0};
    config.patch_calls = debugged ? 0 : 1;  // a debugger's breakpoints and our jumps would be in each other's way
    config.memory_checksums = options.check ? 1 : 0;
    config.detect_memory_errors = manifest.heap_checks ? 1 : 0;
    if (options.trace != nullptr) stacks_.emplace(arena_, *options.trace);
    config.sink = options.trace != nullptr ? Sink::kTrace : Sink::kDecisions;
    REQUIRE(!options.check || manifest.checksums, "{} has no checksums to compare; record with --checksums",
            reader_.path());
    arena_.header().status.final_status = manifest.wait_status;
    arena_.header().status.final_known.store(manifest.complete ? 1 : 0);
  }

  ReplayResult run() {
    const Manifest& manifest = reader_.manifest();
    REQUIRE(!manifest.command_line.empty() && !manifest.processes.empty(), "{} holds no run", reader_.path());
    const int null = options_.discard_output ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    Target target(arena_, {manifest.command_line.front(), manifest.command_line, manifest.environment, null});
    if (null >= 0) close(null);
    RunStatus& status = arena_.header().status;
    while (target.collect() && status.fatal.load() == 0) {
      const bool fed = feed();
      const bool drained = drain();
      answer_stacks();
      if (!hold()) break;
      if (!fed && !drained) wait();
    }
    if (status.fatal.load() != 0 || ended_) target.kill_all();
    while (!target.status() && target.collect()) usleep(500);
    while (drain()) {
    }
    return result(target.status().value_or(0));
  }

 private:
  // Offers records while they fit. False if nothing was offered.
  bool feed() {
    bool any = false;
    for (int n = 0; n < 4096 && !fed_all_; n++) {
      if (pending_ == nullptr) {
        pending_ = reader_.next();
        if (pending_ == nullptr) {
          fed_all_ = true;
          arena_.close_feed();
          return true;
        }
        substitute();
      }
      if (!arena_.offer(pending_, pending_->bytes)) return any;
      pending_ = nullptr;
      any = true;
    }
    return any;
  }

  // A mapped file that the recording holds a copy of is mapped from there.
  void substitute() {
    if (pending_->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) return;
    const auto& map = *reinterpret_cast<const wire::MapFileRecord*>(pending_);
    const std::string* path = files_.find(map);
    if (path == nullptr) return;
    const std::uint64_t bytes = (sizeof map + path->size() + 1 + 7) / 8 * 8;
    changed_.assign(bytes / 8, 0);
    std::memcpy(changed_.data(), &map, sizeof map);
    std::memcpy(reinterpret_cast<char*>(changed_.data()) + sizeof map, path->c_str(), path->size() + 1);
    auto* record = reinterpret_cast<wire::RecordHeader*>(changed_.data());
    record->bytes = static_cast<std::uint32_t>(bytes);
    pending_ = record;
  }

  bool drain() {
    const ArenaMemory::Span span = arena_.published();
    if (span.bytes == 0) return false;
    for (std::uint64_t at = 0; at < span.bytes;) {
      const auto* words = reinterpret_cast<const std::uint64_t*>(span.data + at);
      const auto* record = reinterpret_cast<const wire::RecordHeader*>(words);
      if ((record->kind & wire::kTraceTag) != 0) {
        if (options_.trace != nullptr) options_.trace->append(words);
        at += wire::trace_record_bytes(*words);
      } else {
        if (options_.trace != nullptr) options_.trace->append_record(record);
        at += record->bytes;
      }
    }
    arena_.take(span.bytes);
    return true;
  }

  void answer_stacks() {
    if (!stacks_ || !arena_.stack_asked()) return;
    while (drain()) {
    }
    stacks_->answer();
  }

  // Serves the debugger, if there is one. False: it has ended, and with it the replay.
  bool hold() {
    if (!options_.on_hold) return true;
    RunStatus& status = arena_.header().status;
    if (status.held.load() != 0 && !announced_) {
      announced_ = true;
      options_.on_hold(arena_.state(), static_cast<pid_t>(status.held_pid.load()));
    }
    const HoldRequest request = options_.hold_request();
    if (request == HoldRequest::kGo) {
      status.held.store(0);
      syscall(SYS_futex, &status.held, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
    ended_ = request == HoldRequest::kEnd;
    return !ended_;
  }

  void wait() {
    if (options_.on_progress) options_.on_progress(arena_.header().status.event.load());
    if (options_.trace != nullptr)
      arena_.wait_for_records(2);
    else if (fed_all_)
      arena_.wait_for_records(5);
    else
      arena_.wait_for_feed_room(5);
  }

  ReplayResult result(int wait_status) {
    const RunStatus& status = arena_.header().status;
    ReplayResult result;
    result.wait_status = wait_status;
    result.outcome = outcome_of(wait_status);
    result.events = status.event.load();
    if (status.fatal.load() != 0) {
      result.outcome = static_cast<wire::OutcomeKind>(status.outcome.load());
      result.text = status.message;
      if (result.outcome == wire::OutcomeKind::kDiverged) result.text += last_events(result.events);
    }
    return result;
  }

  // The recorded events that led to `event`, as text.
  std::string last_events(std::uint64_t event) const {
    RecordingReader again(reader_.path());
    std::string text = "\n  recorded events up to there:";
    for (const wire::RecordHeader* record = again.next(); record != nullptr; record = again.next()) {
      const std::uint64_t index = again.position() - 1;
      if (index > event) break;
      if (index + kShownEvents > event) text += fmt::format("\n    {} {}", index, describe_record(record, {}));
    }
    return text;
  }

  const ReplayOptions& options_;
  RecordingReader reader_;
  FileSubstitutes files_;
  ArenaMemory arena_;
  std::optional<StackAnswers> stacks_;  // if there is a trace
  const wire::RecordHeader* pending_ = nullptr;
  std::vector<std::uint64_t> changed_;
  bool fed_all_ = false;
  bool announced_ = false;  // on_hold was called
  bool ended_ = false;      // the debugger has ended
};

}  // namespace

ReplayResult replay_recording(const std::string& path, const ReplayOptions& options) {
  return ReplaySession(path, options).run();
}

}  // namespace reweave

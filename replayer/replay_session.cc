#include "replayer/replay_session.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <tuple>

#include "formats/base/error.h"
#include "formats/recording/recorded_files.h"
#include "formats/trace/dump.h"
#include "recorder/supervisor/process/passing.h"
#include "recorder/supervisor/record/hidden_environment.h"
#include "recorder/supervisor/record/record_session.h"
#include "replayer/instant_watch.h"
#include "replayer/kernel_objects.h"
#include "replayer/stack_answers.h"

namespace reweave {

namespace {

constexpr std::uint64_t kFeedBytes = 8 << 20;
constexpr int kFeedBatch = 32;           // records made visible to the target together
constexpr int kFeedAtOnce = 4096;        // records offered before those that the target writes are read
constexpr std::size_t kShownEvents = 8;  // in a Divergence report

// True if the recording ends because the program did something that cannot be recorded, or because recording failed.
// The recorder then killed the first process, so its wait status says nothing about the program.
bool stopped_by_recorder(const Manifest& manifest) {
  return manifest.outcome == wire::OutcomeKind::kUnsupported || manifest.outcome == wire::OutcomeKind::kDiverged;
}

class ReplaySession {
 public:
  ReplaySession(const std::string& path, const ReplayOptions& options)
      : options_(options), reader_(path), files_(reader_.folder(), reader_.manifest()), arena_(kFeedBytes) {
    const Manifest& manifest = reader_.manifest();
    RunConfig& config = arena_.header().config;
    config = make_config(Mode::kReplay, manifest.seed, "native", find_runtime());
    config.stop_event = options.stop_event;
    config.makes_checkpoints = options.on_checkpoint ? 1 : 0;
    if (options.on_checkpoint) std::tie(checkpoints_, for_target_) = socket_pair(SOCK_SEQPACKET);
    if (options.origin.checkpoint >= 0) reader_.skip_to(options.origin.event);
    const bool debugged = options.stop_event != ~std::uint64_t{0};
    config.patch_calls = debugged ? 0 : 1;  // a debugger's breakpoints and our jumps would collide
    config.memory_checksums = options.check ? 1 : 0;
    config.detect_memory_errors = manifest.heap_checks ? 1 : 0;
    config.fork_at = manifest.heap_checks_from;
    if (options.trace != nullptr) stacks_.emplace(arena_, *options.trace);
    config.sink = options.trace != nullptr ? Sink::kTrace : Sink::kDecisions;
    REQUIRE(!options.check || manifest.checksums, "{} has no checksums to compare; record with --checksums",
            reader_.path());
    arena_.header().status.final_status = manifest.wait_status;
    arena_.header().status.final_known.store(reader_.is_whole() && !stopped_by_recorder(manifest) ? 1 : 0);
  }

  ReplayResult run() {
    reader_.require_run();
    const std::unique_ptr<Tree> tree = start();
    Tree& target = *tree;
    RunStatus& status = arena_.header().status;
    while (target.collect() && status.fatal.load() == 0) {
      const bool fed = feed(kFeedAtOnce);
      const bool drained = drain();
      answer_stacks();
      if (!hold()) break;
      if (fed || drained) continue;
      look_for_lost_instant();
      wait();
    }
    if (status.fatal.load() != 0 || ended_) target.kill_all();
    while (!target.status() && target.collect()) usleep(500);
    while (drain()) {
    }
    const int killed = status.first_killed.load();
    return result(killed != 0 ? killed : target.status().value_or(0));
  }

 private:
  std::unique_ptr<Tree> start() {
    const Manifest& manifest = reader_.manifest();
    const Fd null(options_.discard_output ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1);
    if (options_.origin.checkpoint >= 0) {
      feed(kFeedBatch);
      return std::make_unique<Copy>(arena_, options_.origin.checkpoint, null.get(), for_target_.get());
    }
    TargetProgram program = {manifest.command_line.front(), manifest.command_line,
                             with_given_values(manifest.environment), null.get()};
    program.checkpoints = for_target_.get();
    return std::make_unique<Target>(arena_, program, [this] {
      files_.check();
      feed(kFeedBatch);
    });
  }

  // Offers records while they fit, at most `most`. False if nothing was offered.
  bool feed(int most) {
    bool any = false;
    for (int n = 0; n < most && !fed_all_; n++) {
      if (n % kFeedBatch == 0) arena_.show_offered();
      if (pending_ == nullptr) {
        pending_ = reader_.next();
        if (pending_ == nullptr) {
          fed_all_ = true;
          arena_.close_feed();
          return true;
        }
        pending_ = files_.located(pending_);
      }
      if (!arena_.offer(pending_, pending_->bytes)) break;
      pending_ = nullptr;
      any = true;
    }
    arena_.show_offered();
    return any;
  }

  bool drain() {
    const ArenaMemory::Span span = arena_.published();
    if (span.bytes == 0) return false;
    for (std::uint64_t at = 0; at < span.bytes;) {
      const auto* words = reinterpret_cast<const std::uint64_t*>(span.data + at);
      const auto* record = reinterpret_cast<const wire::RecordHeader*>(words);
      if ((record->kind & wire::kTraceTag) != 0) {
        if (options_.trace != nullptr) append_traced(words);
        at += wire::trace_record_bytes(*words);
      } else {
        if (options_.trace != nullptr) options_.trace->append_record(record);
        if (options_.trace != nullptr) kernel_objects_.note(record);
        at += record->bytes;
      }
    }
    arena_.take(span.bytes);
    return true;
  }

  void append_traced(const std::uint64_t* words) {
    const TraceEvent event = wire::unpack_trace(words);
    if (event.kind != wire::kKernelStepKind) return options_.trace->append(words);
    for (const TraceEvent& told : kernel_objects_.take(event)) {
      const std::uint64_t packed[] = {wire::pack_word0(told.kind, told.aux, told.address, false),
                                      wire::pack_word1(told.pc, told.thread)};
      options_.trace->append(packed);
    }
  }

  void answer_stacks() {
    if (!stacks_ || !arena_.stack_asked()) return;
    while (drain()) {
    }
    stacks_->answer();
  }

  // Serves the debugger, if there is one. False if the debugger has ended, which ends the replay too.
  bool hold() {
    if (!options_.on_hold) return true;
    RunStatus& status = arena_.header().status;
    if (status.held.load() != 0 && !announced_) {
      announced_ = true;
      options_.on_hold(arena_.state(), static_cast<pid_t>(status.held_pid.load()));
    }
    const HoldRequest request = options_.hold_request();
    if (request.kind == HoldRequest::kCheckpoint) options_.on_checkpoint(make_checkpoint(arena_, checkpoints_.get()));
    if (request.kind == HoldRequest::kGo) end_hold();
    if (request.kind == HoldRequest::kGoTo) {
      arena_.header().config.stop_event = request.event;
      announced_ = false;
      end_hold();
    }
    ended_ = request.kind == HoldRequest::kEnd;
    return !ended_;
  }

  void end_hold() {
    RunStatus& status = arena_.header().status;
    status.held.store(0);
    syscall(SYS_futex, &status.held, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }

  // Ends a replay that can no longer find its next preemption. Not under a debugger, where the target may compute for
  // any length of time.
  void look_for_lost_instant() {
    if (options_.on_hold) return;
    const std::string why = instant_watch_.look();
    if (why.empty()) return;
    RunStatus& status = arena_.header().status;
    why.copy(status.message, sizeof status.message - 1);
    status.outcome.store(static_cast<std::uint32_t>(wire::OutcomeKind::kDiverged));
    status.fatal.store(1);
  }

  void wait() {
    if (options_.on_progress) options_.on_progress(arena_.header().status.event.load());
    if (options_.requests >= 0 && arena_.header().status.held.load() != 0) {
      pollfd request = {options_.requests, POLLIN, 0};
      poll(&request, 1, 5);
      return;
    }
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
    result.hidden = hidden_names(with_given_values(reader_.manifest().environment));
    result.wait_status = wait_status;
    result.outcome = outcome_of(wait_status);
    result.events = status.event.load();
    if (reader_.truncated()) result.missing = reader_.truncation().what();
    if (status.fatal.load() != 0) {
      result.outcome = static_cast<wire::OutcomeKind>(status.outcome.load());
      result.text = status.message;
      const Manifest& recorded = reader_.manifest();
      if (result.outcome == wire::OutcomeKind::kTruncated && stopped_by_recorder(recorded)) {
        const bool failed = recorded.outcome == wire::OutcomeKind::kDiverged;  // recording failed; this replay did not
        if (!failed) result.outcome = recorded.outcome;
        result.text = (failed ? "the recording ends here, where recording failed: " : "") + recorded.outcome_text;
      }
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
  RecordedFiles files_;
  ArenaMemory arena_;
  InstantWatch instant_watch_{arena_};
  std::optional<StackAnswers> stacks_;  // set only if there is a trace
  KernelObjects kernel_objects_;        // used only if there is a trace
  const wire::RecordHeader* pending_ = nullptr;
  bool fed_all_ = false;
  bool announced_ = false;       // on_hold was called
  Fd checkpoints_, for_target_;  // the ends of a socket, if the replay makes checkpoints
  bool ended_ = false;           // the debugger has ended
};

}  // namespace

ReplayResult replay_recording(const std::string& path, const ReplayOptions& options) {
  return ReplaySession(path, options).run();
}

}  // namespace reweave

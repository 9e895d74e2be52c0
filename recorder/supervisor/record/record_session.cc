#include "recorder/supervisor/record/record_session.h"

#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "formats/base/error.h"
#include "formats/recording/recording_writer.h"
#include "recorder/supervisor/process/end_requests.h"
#include "recorder/supervisor/ring/clock_keeper.h"
#include "recorder/supervisor/ring/kept_files.h"
#include "recorder/supervisor/ring/manifest_notes.h"
#include "recorder/supervisor/ring/ring_drain.h"
#include "recorder/supervisor/ring/unsaved.h"
#include "recorder/supervisor/target/watchdog.h"
#include "recorder/supervisor/tree/deadlock_watch.h"
#include "recorder/supervisor/tree/tree_watch.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return {};
}

Manifest first_manifest(const RecordOptions& options) {
  Manifest manifest;
  manifest.tool_version = REWEAVE_VERSION;
  manifest.command_line = options.program.arguments;
  manifest.environment = options.environment;
  manifest.working_directory = fs::current_path().string();
  manifest.start_time_ns = std::chrono::system_clock::now().time_since_epoch().count();
  utsname kernel = {};
  uname(&kernel);
  manifest.host_kernel = std::string(kernel.release) + " " + kernel.version;
  manifest.cpu_model = cpu_model();
  manifest.seed = options.seed;
  manifest.policy = options.policy;
  manifest.chaos = options.policy == "chaos";
  manifest.checksums = options.checksums;
  return manifest;
}

using Clock = std::chrono::steady_clock;

// The time for which records may gather before they are taken. Taking each one at once would slow down the target,
// which writes to the same memory and may share this processor's core.
constexpr int kGatherMs = 1;

// One recording in progress.
class RecordSession {
 public:
  explicit RecordSession(const RecordOptions& options)
      : options_(options),
        manifest_(first_manifest(options)),
        writer_(options.output, manifest_,
                options.reserved ? RecordingWriter::Place::kReserved : RecordingWriter::Place::kNew),
        unsaved_(create_unsaved(writer_.folder())),
        arena_(64 << 10, unsaved_.get()),
        drain_(arena_, writer_, kept_, notes_, options.max_bytes),
        preload_(fs::absolute(fs::path(options.output)) / "preload") {
    const RuntimePaths paths = find_runtime();
    RunConfig& config = arena_.header().config;
    config = make_config(Mode::kRecord, options.seed, options.policy, paths);
    config.memory_checksums = options.checksums ? 1 : 0;
    config.processor_level = options.processor_level;
    config.ring_in_file = unsaved_.valid() ? 1 : 0;
    config.keep_files = 1;
    config.supervisor = static_cast<std::uint32_t>(getpid());
    writer_.folder().replace_file("preload", paths.shim + "\n");
    writer_.folder().replace_file("preload-tsan", paths.shim + "\n" + paths.tsan + "\n");
    REQUIRE(tsan_preload().size() < sizeof config.tsan_preload_path, "{}: the path is too long", tsan_preload());
    preload_.string().copy(config.preload_path, sizeof config.preload_path - 1);
    tsan_preload().copy(config.tsan_preload_path, sizeof config.tsan_preload_path - 1);
  }

  RecordResult run() {
    TargetProgram program = options_.program;
    if (unsaved_.valid()) program.recording = fs::absolute(options_.output).string();
    Target target(arena_, program);
    TreeWatch watch(arena_, [this](ThreadId thread) {
      drain_.take_all();
      return notes_.knows(thread);
    });
    Watchdog watchdog(arena_);
    const LiveTreeView view;
    DeadlockWatch deadlocks(arena_, view);
    ClockKeeper clocks(arena_);
    while (target.collect() && arena_.header().status.fatal.load() == 0) {
      look_at_requests(target);
      kept_.answer();
      if (kept_.mark_wanted()) {  // other processes may write to these files once all data read from them is stored
        drain_.take_published();
        kept_.release();
      }
      const bool keeps_time = clocks.look();
      if (keeps_time) clocks.keep();
      const std::uint32_t seen = arena_.signals_seen();
      if (drain_.take_some()) {
        idle_ms_ = 1;
        quiet_since_ = Clock::now();
        if (drain_.caught_up() && !keeps_time) gather(seen, watchdog);
      } else if (!keeps_time) {
        arena_.wait_for_records(idle_ms_);
        idle_ms_ += idle_ms_ < kLongestIdleMs ? 1 : kLongestIdleMs;
        idle_ms_ = std::min(idle_ms_, watchdog.look());
        if (is_quiet() && watch.look(target.status())) idle_ms_ = 1;
      }
      deadlocks.look();
      save_now_and_then();
    }
    if (arena_.header().status.fatal.load() != 0) target.kill_all();
    while (!target.status() && target.collect()) usleep(1000);
    const bool ended_by_us = arena_.header().status.fatal.load() != 0;
    if (!ended_by_us) watch.note_rest(target.status().value_or(0));
    drain_.take_all();
    return finish(target.status().value_or(0));
  }

 private:
  std::string tsan_preload() const { return preload_.string() + "-tsan"; }

  void gather(std::uint32_t seen, Watchdog& watchdog) {
    const bool is_quiet = arena_.published().bytes == 0;
    arena_.let_gather(seen, kGatherMs);
    if (is_quiet) watchdog.look();
  }

  // True every kLongestIdleMs while nothing is published: possibly no process is left that could publish anything.
  bool is_quiet() {
    const auto now = Clock::now();
    if (now - quiet_since_ < std::chrono::milliseconds(kLongestIdleMs)) return false;
    quiet_since_ = now;
    return true;
  }

  // A request to end is passed on to the first process. Once that has ended, the others are killed.
  void look_at_requests(Target& target) {
    if (!target.status()) return relay_.look(target.pid(), drain_.signals());
    const bool is_over = left_behind_.is_over();
    if (!is_over && end_request() == 0) return;
    ended_rest_ = ended_rest_ || !is_over;
    target.kill_all();
    kill_targets_of(arena_);  // a process that was just forked can be found only by its arena
  }

  // Saves what was recorded every 200 ms. If this process is killed, the ring's file has the records since then. Also
  // saves as soon as the first process is known, because a recording without it cannot be replayed.
  void save_now_and_then() {
    const auto now = Clock::now();
    const bool first = !first_saved_ && !manifest_.processes.empty();
    if (!first && now - last_saved_ < std::chrono::milliseconds(200)) return;
    if (first_saved_ && writer_.records() == records_saved_) return;
    records_saved_ = writer_.records();
    first_saved_ = first_saved_ || first;
    last_saved_ = now;
    drain_.flush();
    writer_.update_manifest(manifest_);
  }

  RecordResult finish(int wait_status) {
    RecordResult result;
    result.wait_status = wait_status;
    result.outcome = outcome_of(wait_status);
    const RunStatus& status = arena_.header().status;
    if (status.fatal.load() != 0) {
      result.outcome = static_cast<wire::OutcomeKind>(status.outcome.load());
      result.text = status.message;
    }
    notes_.note_end(wait_status);
    manifest_.outcome = result.outcome;
    manifest_.outcome_text = result.text;
    manifest_.outcome_detail = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    writer_.finish(manifest_);
    remove_unsaved(writer_.folder());
    result.events = writer_.records();
    result.interrupted = end_request();
    result.ended_rest = ended_rest_;
    result.dropped = drain_.dropped() || drain_.too_large();
    return result;
  }

  const RecordOptions& options_;
  Manifest manifest_;
  RecordingWriter writer_;
  Fd unsaved_;
  ArenaMemory arena_;
  KeptFiles kept_{arena_};
  ManifestNotes notes_{manifest_, writer_, arena_};
  RingDrain drain_;
  fs::path preload_;
  SignalRelay relay_;
  LeftBehind left_behind_{arena_, options_.left_behind};
  int idle_ms_ = 1;
  Clock::time_point quiet_since_ = Clock::now();
  bool ended_rest_ = false;   // by request
  bool first_saved_ = false;  // the manifest on disk has the first process
  Clock::time_point last_saved_ = Clock::now();
  std::uint64_t records_saved_ = 0;
};

}  // namespace

RecordResult record_program(const RecordOptions& options) {
  return std::make_unique<RecordSession>(options)->run();  // too large for a stack
}

wire::OutcomeKind outcome_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return wire::OutcomeKind::kSignalled;
  return WEXITSTATUS(wait_status) == 0 ? wire::OutcomeKind::kPassed : wire::OutcomeKind::kExitStatus;
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace reweave

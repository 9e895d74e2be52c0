#include "recorder/supervisor/record_session.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "formats/error.h"
#include "formats/file_identity.h"
#include "formats/recording_writer.h"
#include "recorder/supervisor/clock_keeper.h"
#include "recorder/supervisor/heap.h"
#include "recorder/supervisor/kept_files.h"
#include "recorder/supervisor/tree_watch.h"
#include "recorder/supervisor/watchdog.h"
#include "recorder/system_files.h"

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
  manifest.environment = options.program.environment;
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

// The loader's cache and the configuration do not: they change whenever a package is installed.
bool belongs_to_system(const std::string& path) {
  return std::ranges::any_of(kSystemFolders, [&](const char* folder) { return path.starts_with(folder); });
}

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSliceBytes = 256 << 10;  // of the ring, given back at once
// How long records may gather before they are taken: taking each as it comes would slow the target down, which writes
// where we read, and may have the other half of our processor's core.
constexpr int kGatherMs = 1;

// One recording under way.
class RecordSession {
 public:
  explicit RecordSession(const RecordOptions& options)
      : options_(options),
        manifest_(first_manifest(options)),
        writer_(options.output, manifest_,
                options.reserved ? RecordingWriter::Place::kReserved : RecordingWriter::Place::kNew),
        arena_(64 << 10),
        preload_(fs::absolute(fs::path(options.output)) / "preload") {
    const RuntimePaths paths = find_runtime();
    RunConfig& config = arena_.header().config;
    config = make_config(Mode::kRecord, options.seed, options.policy, paths);
    config.memory_checksums = options.checksums ? 1 : 0;
    config.processor_level = options.processor_level;
    config.keep_files = 1;
    config.supervisor = static_cast<std::uint32_t>(getpid());
    std::ofstream(preload_) << paths.shim << "\n";
    std::ofstream(tsan_preload()) << paths.shim << "\n" << paths.tsan << "\n";
    REQUIRE(tsan_preload().size() < sizeof config.tsan_preload_path, "{}: the path is too long", tsan_preload());
    preload_.string().copy(config.preload_path, sizeof config.preload_path - 1);
    tsan_preload().copy(config.tsan_preload_path, sizeof config.tsan_preload_path - 1);
  }

  RecordResult run() {
    Target target(arena_, options_.program);
    TreeWatch watch(arena_, [this](ThreadId thread) {
      while (drain()) {
      }
      return thread_process_.contains(thread);
    });
    Watchdog watchdog(arena_);
    ClockKeeper clocks(arena_);
    while (target.collect() && arena_.header().status.fatal.load() == 0) {
      pass_on_termination(target);
      kept_.answer();
      if (kept_.mark_wanted()) let_go();
      const bool keeps_time = clocks.look();
      if (keeps_time) clocks.keep();
      const std::uint32_t seen = arena_.signals_seen();
      if (drain()) {
        idle_ms_ = 1;
        quiet_since_ = Clock::now();
        if (caught_up_ && !keeps_time) gather(seen, watchdog);
      } else if (!keeps_time) {
        arena_.wait_for_records(idle_ms_);
        idle_ms_ = idle_ms_ < kLongestIdleMs ? idle_ms_ + 1 : kLongestIdleMs;
        idle_ms_ = std::min(idle_ms_, watchdog.look());
        if (is_quiet() && watch.look(target.status())) idle_ms_ = 1;
      }
      save_now_and_then();
    }
    if (arena_.header().status.fatal.load() != 0) target.kill_all();
    while (!target.status() && target.collect()) usleep(1000);
    const bool ended_by_us = arena_.header().status.fatal.load() != 0;
    if (!ended_by_us) watch.note_rest(target.status().value_or(0));
    while (drain()) {
    }
    return finish(target.status().value_or(0));
  }

 private:
  std::string tsan_preload() const { return preload_.string() + "-tsan"; }

  void gather(std::uint32_t seen, Watchdog& watchdog) {
    const bool is_quiet = arena_.published().bytes == 0;
    arena_.let_gather(seen, kGatherMs);
    if (is_quiet) watchdog.look();
  }

  // True now and then while nothing is published: perhaps nobody is left who could.
  bool is_quiet() {
    const auto now = Clock::now();
    if (now - quiet_since_ < std::chrono::milliseconds(kLongestIdleMs)) return false;
    quiet_since_ = now;
    return true;
  }

  bool too_large() const { return options_.max_bytes != 0 && writer_.bytes_written() > options_.max_bytes; }

  void pass_on_termination(const Target& target) {
    if (options_.terminate == nullptr || *options_.terminate == 0) return;
    *options_.terminate = 0;
    if (!target.status()) kill(target.pid(), SIGTERM);
  }

  // If we are killed, at most the last moments are lost. Without its first process a recording cannot be replayed.
  void save_now_and_then() {
    const auto now = Clock::now();
    const bool first = !first_saved_ && !manifest_.processes.empty();
    if (!first && now - last_saved_ < std::chrono::milliseconds(200)) return;
    first_saved_ = first_saved_ || first;
    last_saved_ = now;
    writer_.flush();
    writer_.update_manifest(manifest_);
  }

  // Lets others write to files that were kept, once all that refers to them is stored.
  void let_go() {
    const std::uint64_t head = arena_.header().out.head.load();
    while (arena_.header().out.tail.load() < head && drain()) {
    }
    kept_.release();
  }

  // How much of it is records.
  std::uint64_t unskipped(const ArenaMemory::Span& span) {
    const std::uint64_t skipped = arena_.state().out_skipped.load(std::memory_order_relaxed) - skipped_;
    return span.bytes - std::min(span.bytes, skipped);
  }

  // While we fault in the pages that our blocks are made in, a target that writes much would fill page after page of
  // the ring, each of which costs it a fault, too.
  void prepare_for_much() {
    constexpr std::uint64_t kMuch = 128 << 10;
    if (writes_much_ || arena_.header().out.head.load() < kMuch) return;
    writes_much_ = true;
    enlarge_heap(2 << 20);
  }

  // Takes of what the target has published. False if there was nothing.
  bool drain() {
    const ArenaMemory::Span span = arena_.published();
    if (span.bytes == 0) return false;
    writer_.set_pressure(static_cast<unsigned>(unskipped(span) * 100 / kOutRingBytes));
    prepare_for_much();
    std::uint64_t at = 0;
    while (at < span.bytes && at < kSliceBytes) {
      const auto* record = reinterpret_cast<const wire::RecordHeader*>(span.data + at);
      CHECK(record->bytes >= sizeof *record && record->bytes % 8 == 0 && record->bytes <= span.bytes - at);
      at += record->bytes;
      if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kNone)) {
        skipped_ += record->bytes;
        continue;
      }
      note(record);
      if (!dropped_) append(record);
    }
    arena_.take(at);
    caught_up_ = at == span.bytes;
    dropped_ = dropped_ || too_large();
    return true;
  }

  void append(const wire::RecordHeader* record) {
    const bool is_call = record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall);
    const bool is_apart =
        is_call && (reinterpret_cast<const wire::SyscallRecord*>(record)->flags & wire::kOutputApart) != 0;
    writer_.append(is_apart ? kept_.resolve(record, writer_) : record);
  }

  // Keeps the manifest's lists up to date.
  void note(const wire::RecordHeader* record) {
    switch (static_cast<wire::RecordKind>(record->kind)) {
      case wire::RecordKind::kMapFile:
        return note_file(record);
      case wire::RecordKind::kSpawn:
        return note_spawn(*reinterpret_cast<const wire::SpawnRecord*>(record));
      case wire::RecordKind::kProcessExit: {
        const auto& end = *reinterpret_cast<const wire::ProcessExitRecord*>(record);
        for (ProcessInfo& process : manifest_.processes)
          if (process.index == end.process) process.wait_status = end.wait_status & 0xffff;
        return;
      }
      default:
        return;
    }
  }

  void note_file(const wire::RecordHeader* record) {
    const auto& map = *reinterpret_cast<const wire::MapFileRecord*>(record);
    if ((map.flags & (kMapStandIn | kMapInlined)) != 0) return;
    const std::string path = reinterpret_cast<const char*>(&map + 1);
    if (!seen_files_.insert({path, map.ctime_ns, map.file_size}).second) return;
    const std::string source = place_of(map, path);
    if (!fs::is_regular_file(source)) return;
    MappedFile file = identify_file(source);
    file.path = path;
    const bool fresh = (map.flags & kMapFresh) != 0 || source != path;
    if (fresh || (file.build_id.empty() && !belongs_to_system(path))) file.stored_name = writer_.store_file(source);
    if (file.size != map.file_size || file.ctime_ns != map.ctime_ns)
      fmt::print(stderr, "reweave: {} changed as soon as it was mapped; the recording may not replay\n", path);
    manifest_.files.push_back(file);
  }

  // Where we find the file that the target mapped as `path`: a process with other mounts than ours, or another root,
  // may have another file by that name.
  std::string place_of(const wire::MapFileRecord& map, const std::string& path) {
    const auto is_there = [&map](const std::string& name) {
      struct stat status {};
      return ::stat(name.c_str(), &status) == 0 && status.st_dev == map.device && status.st_ino == map.inode;
    };
    if (is_there(path)) return path;
    const int pid = arena_.state().processes[thread_process_[map.header.thread]].real_pid;
    const std::string within = fmt::format("/proc/{}/root{}", pid, path);
    return is_there(within) ? within : path;
  }

  void note_spawn(const wire::SpawnRecord& spawn) {
    const auto kind = static_cast<wire::SpawnKind>(spawn.kind);
    thread_process_[spawn.child] = spawn.process;
    if (kind == wire::SpawnKind::kThread) return;
    ProcessInfo process;
    process.index = spawn.process;
    process.parent = kind == wire::SpawnKind::kFirst ? spawn.process : thread_process_[spawn.header.thread];
    process.pid = static_cast<std::int32_t>(spawn.tid);
    manifest_.processes.push_back(process);
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
    for (ProcessInfo& process : manifest_.processes) {
      if (process.index < kMaxProcesses) process.program = arena_.state().processes[process.index].program;
      if (process.index == 0) process.wait_status = wait_status;
    }
    manifest_.wait_status = wait_status;
    manifest_.outcome = result.outcome;
    manifest_.outcome_text = result.text;
    manifest_.outcome_detail = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    writer_.finish(manifest_);
    result.events = writer_.records();
    result.dropped = dropped_ || too_large();
    return result;
  }

  const RecordOptions& options_;
  Manifest manifest_;
  RecordingWriter writer_;
  ArenaMemory arena_;
  KeptFiles kept_{arena_};
  fs::path preload_;
  int idle_ms_ = 1;
  std::uint64_t skipped_ = 0;  // of what was taken from the ring
  bool caught_up_ = false;     // what was published when last drained is taken
  Clock::time_point quiet_since_ = Clock::now();
  bool dropped_ = false;
  bool writes_much_ = false;  // the target
  bool first_saved_ = false;  // the manifest on disk has the first process
  Clock::time_point last_saved_ = Clock::now();
  std::set<std::tuple<std::string, std::int64_t, std::uint64_t>> seen_files_;
  std::map<std::uint16_t, std::uint16_t> thread_process_;
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

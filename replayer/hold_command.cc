#include "replayer/hold_command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/elf/elf_file.h"
#include "formats/recording/recorded_files.h"
#include "recorder/supervisor/process/call_names.h"
#include "recorder/supervisor/process/passing.h"
#include "recorder/supervisor/target/target.h"
#include "replayer/hold_plan.h"
#include "replayer/replay_session.h"

namespace reweave {

namespace {

using Json = nlohmann::json;

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::kExits:
      return "exits";
    case Ending::kSignalled:
      return "signalled";
    case Ending::kStopped:
      return "stopped";
    case Ending::kRests:
      return "rests";
    case Ending::kTruncated:
      return "truncated";
  }
  return "";
}

// The memory with stubs of the program's code: start and size in slot 0, and how much the start changes from slot to
// slot.
Json stub_places() {
  const StubAreas here = stub_areas(0), next = stub_areas(1);
  Json list = Json::array();
  for (std::uint32_t i = 0; i < kStubAreaCount; i++)
    list.push_back({here.areas[i].start, here.areas[i].bytes,
                    static_cast<std::int64_t>(next.areas[i].start) - static_cast<std::int64_t>(here.areas[i].start)});
  return list;
}

// The names of the system calls, by number.
Json call_names() {
  constexpr unsigned kCalls = 470;
  Json list = Json::array();
  for (unsigned number = 0; number < kCalls; number++) list.push_back(system_call_name(number));
  return list;
}

// Addresses, offsets and sizes by which a debugger finds the runtime's state. Plain numbers, so that it needs neither
// symbols nor knowledge of the language.
Json memory_map() {
  constexpr std::uint64_t kState = kArenaBase + kHeaderBytes;
  return {
      {"core_start", kCoreBase},
      {"core_end", kArenaBase},
      {"stacks_start", kStacksBase},
      {"stacks_end", kStacksBase + kMaxThreads * kCoreStackBytes},
      {"event", kArenaBase + offsetof(ArenaHeader, status) + offsetof(RunStatus, event)},
      {"step", kState + offsetof(RuntimeState, step)},
      {"holder", kState + offsetof(RuntimeState, holder)},
      {"thread_count", kState + offsetof(RuntimeState, thread_count)},
      {"threads", kState + offsetof(RuntimeState, threads)},
      {"thread_bytes", sizeof(Thread)},
      {"thread_state", offsetof(Thread, state)},
      {"thread_process", offsetof(Thread, process)},
      {"thread_tid", offsetof(Thread, tid)},
      {"thread_real_tid", offsetof(Thread, real_tid)},
      {"thread_start_context", offsetof(Thread, start_context)},
      {"thread_wait_kind", offsetof(Thread, wait) + offsetof(Wait, kind)},
      {"thread_wait_address", offsetof(Thread, wait) + offsetof(Wait, address)},
      {"thread_stack_top", offsetof(Thread, stack_top)},
      {"thread_counted_at", offsetof(Thread, counted_at)},
      {"stack_bytes", kCoreStackBytes},
      {"shadow_start", kShadowBase},
      {"shadow_end", kShadowEnd},
      {"process_count", kState + offsetof(RuntimeState, process_count)},
      {"thread_wait_owner", offsetof(Thread, wait) + offsetof(Wait, owner_tid)},
      {"processes", kState + offsetof(RuntimeState, processes)},
      {"process_bytes", sizeof(Process)},
      {"process_program", offsetof(Process, program)},
      {"process_slot", offsetof(Process, program_slot)},
      {"process_real_pid", offsetof(Process, real_pid)},
      {"process_pid", offsetof(Process, pid)},
  };
}

// The process to debug: the requested one, or that of the thread that runs next.
const Process& process_to_debug(const RuntimeState& state, pid_t held, const HoldPlan& plan) {
  if (plan.process && *plan.process < state.process_count && state.processes[*plan.process].real_pid > 0)
    return state.processes[*plan.process];
  if (plan.next_thread && *plan.next_thread < state.thread_count) {
    const Process& next = state.processes[state.threads[*plan.next_thread].process];
    if (next.real_pid > 0) return next;
  }
  for (std::uint32_t i = 0; i < state.process_count; i++)
    if (state.processes[i].real_pid == held) return state.processes[i];
  return state.processes[0];
}

// The copies of programs and libraries in the recording, which a debugger reads in place of the machine's own. Each
// file was opened here to check that it is a regular file, because a debugger can only be given its path.
Json copies_of(const RecordedFiles& files) {
  Json list = Json::array();
  for (const RecordedFiles::Copy& copy : files.copies())
    if (const Fd file = files.open_stored(copy.name); is_elf(file))
      list.push_back({copy.path, files.stored_path(copy.name), soname_of(file)});
  return list;
}

// Paths of the stored debug information, by build-id.
Json debug_files_of(const RecordedFiles& files) {
  Json paths = Json::object();
  for (const auto& [build_id, name] : files.debug_files())
    if (files.open_stored(name).valid()) paths[build_id] = files.stored_path(name);
  return paths;
}

void answer_debugger(int reply_fd, const Json& reply) {
  const std::string line = reply.dump() + "\n";
  const ssize_t written = write(reply_fd, line.data(), line.size());
  if (written < 0 && errno == EPIPE) return;  // gdb has ended, so this process will end as well
  SYSCALL_CHECK(written, "answering the debugger");
}

void announce(const RuntimeState& state, pid_t held, const HoldPlan& plan, const RecordedFiles& files, int reply_fd) {
  const Process& process = process_to_debug(state, held, plan);
  const Json reply = {
      {"pid", process.real_pid},     {"program", process.program},
      {"recorded_pid", process.pid}, {"event", plan.event},
      {"at_end", plan.at_end},       {"ending", name_of(plan.ending)},
      {"total", plan.total},         {"core", find_runtime().core},
      {"memory", memory_map()},      {"tsan", plan.replaces_tsan ? find_runtime().tsan : ""},
      {"copies", copies_of(files)},  {"debug_files", debug_files_of(files)},
      {"stubs", stub_places()},      {"calls", call_names()},
      {"first", plan.first},         {"last", plan.last},
      {"loading", plan.loading},     {"processes", plan.processes},
  };
  answer_debugger(reply_fd, reply);
}

// Announces only the process, to a debugger that has all other fields from an earlier announcement.
void announce_shortly(const RuntimeState& state, pid_t held, std::optional<std::uint32_t> index, int reply_fd) {
  HoldPlan plan;
  plan.process = index;
  const Process& process = process_to_debug(state, held, plan);
  answer_debugger(reply_fd, {{"pid", process.real_pid}, {"program", process.program}, {"recorded_pid", process.pid}});
}

void announce_checkpoint(const MadeCheckpoint& made, int reply_fd) {
  if (!made.requests.valid()) return answer_debugger(reply_fd, {{"refused", made.why}});
  const std::string line = Json{{"checkpoint", made.pid}}.dump() + "\n";
  const int passed[] = {made.requests.get()};
  send_passing(reply_fd, line, passed);
}

HoldRequest read_request() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0) return {};
  char byte = 0;
  if (read(STDIN_FILENO, &byte, 1) != 1) return {HoldRequest::kEnd};
  std::uint64_t event = 0;
  switch (byte) {
    case 'g':
      return {HoldRequest::kGo};
    case 'c':
      return {HoldRequest::kCheckpoint};
    case 't':
      return {read(STDIN_FILENO, &event, sizeof event) == sizeof event ? HoldRequest::kGoTo : HoldRequest::kEnd, event};
    default:
      return {HoldRequest::kEnd};
  }
}

std::optional<std::uint32_t> index_of_process(const Manifest& manifest, std::int32_t pid) {
  for (const ProcessInfo& process : manifest.processes)
    if (process.pid == pid) return process.index;
  return {};
}

int exit_status_after(const ReplayResult& result) {
  if (result.outcome != wire::OutcomeKind::kDiverged) return 0;
  fmt::print(stderr, "reweave: Divergence: {}\n", result.text);
  return exit_status_of(result.outcome);
}

// Serves a replay that makes checkpoints or starts from one. The caller gives the number of an event at which the
// replay can hold, so no plan is needed.
int hold_shortly(const HoldArguments& arguments) {
  const std::optional<std::uint32_t> process =
      index_of_process(RecordingReader(arguments.recording).manifest(), arguments.pid);
  ReplayOptions options;
  options.stop_event = std::strtoull(arguments.where.c_str(), nullptr, 10);
  options.check = arguments.check;
  options.discard_output = arguments.discard_output;
  options.origin = arguments.origin;
  options.on_hold = [&](const RuntimeState& state, pid_t held) {
    announce_shortly(state, held, process, arguments.reply_fd);
  };
  options.hold_request = read_request;
  options.requests = STDIN_FILENO;
  if (arguments.makes_checkpoints)
    options.on_checkpoint = [&](const MadeCheckpoint& made) { announce_checkpoint(made, arguments.reply_fd); };
  const ReplayResult result = replay_recording(arguments.recording, options);
  const Json end = {{"outcome", static_cast<int>(result.outcome)},
                    {"status", result.wait_status},
                    {"events", result.events},
                    {"text", result.text}};
  const std::string line = end.dump() + "\n";
  static_cast<void>(send(arguments.reply_fd, line.data(), line.size(), MSG_NOSIGNAL));  // the other side may have ended
  return exit_status_after(result);
}

}  // namespace

int hold_for_debugger(const HoldArguments& arguments) {
  signal(SIGINT, SIG_IGN);                         // the terminal's interrupt is for gdb
  fcntl(arguments.reply_fd, F_SETFD, FD_CLOEXEC);  // closing it tells the debugger that this process has ended
  if (arguments.makes_checkpoints || arguments.origin.checkpoint >= 0) return hold_shortly(arguments);
  const HoldPlan plan = plan_hold(arguments.recording, arguments.where, arguments.pid);
  const RecordingReader reader(arguments.recording);
  const RecordedFiles files(reader.folder(), reader.manifest());
  ReplayOptions options;
  options.stop_event = plan.event;
  options.discard_output = arguments.discard_output;
  options.on_hold = [&](const RuntimeState& state, pid_t held) {
    announce(state, held, plan, files, arguments.reply_fd);
  };
  options.hold_request = read_request;
  options.requests = STDIN_FILENO;
  const ReplayResult result = replay_recording(arguments.recording, options);
  return exit_status_after(result);
}

}  // namespace reweave

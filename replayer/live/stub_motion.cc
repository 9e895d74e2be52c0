// GdbStub's motions, forward and backward, and its reports of stops.
#include <sys/time.h>

#include <csignal>

#include "formats/base/error.h"
#include "replayer/live/gdb_signals.h"
#include "replayer/live/memory_hash.h"
#include "replayer/live/stub_parts.h"

namespace reweave {

void GdbStub::adopt(Place place) {
  here_ = std::move(place);
  selected_ = here_.lwp;
  process().poll = [this] { return packets_.interrupted(); };
  process().passed_signals = passed_signals_;
}

void GdbStub::open(const std::string& where, bool quiet) {
  Place place;
  if (const auto position = parse_position(where)) {
    place = timeline_.seek(*position, quiet);
  } else {
    place.replay = timeline_.hold(where, quiet);
    if (!place.replay->place().at("at_end").get<bool>()) {
      place.process().passes_all_signals = true;
      last_ = place.process().run({.lands = true});
      place.lwp = last_.lwp;
      place.process().passes_all_signals = false;
    }
  }
  if (place.lwp == 0) place.lwp = place.process().ended() ? 0 : holder_of(place.process());
  adopt(std::move(place));
  last_.lwp = selected_;
  if (!process().ended()) last_.reason = StopReason::kStepped;
}

std::optional<pid_t> GdbStub::running_thread(const TracedProcess& process) {
  for (const CoreThread& thread : process.core().threads())
    if (thread.state == ThreadState::kRunning) return thread.real_tid;
  return {};
}

pid_t GdbStub::holder_of(const TracedProcess& process) { return running_thread(process).value_or(process.pid()); }

std::string GdbStub::describe(const Stop& stop, const char* extra) {
  if (stop.reason == StopReason::kExited) return fmt::format("W{:02x};process:{:x}", stop.signal, recorded_pid_);
  if (stop.reason == StopReason::kKilled)
    return fmt::format("X{:02x};process:{:x}", gdb_signal(stop.signal), recorded_pid_);
  int signal = SIGTRAP;
  if (stop.reason == StopReason::kSignal) signal = stop.signal;
  if (stop.reason == StopReason::kInterrupted) signal = SIGINT;
  std::string text = fmt::format("T{:02x}", gdb_signal(signal));
  if (stop.reason == StopReason::kWatched) text += fmt::format("watch:{:x};", stop.address);
  if (stop.reason == StopReason::kBreakpoint) text += "swbreak:;";
  return text + extra + "thread:" + name_of_thread(selected_) + ";";
}

std::string GdbStub::answer_stop() {
  pid_seen();
  if (last_.lwp == 0) last_.lwp = process().ended() ? 0 : holder_of(process());
  selected_ = last_.lwp;
  return describe(last_);
}

std::string GdbStub::change_stops(std::string_view rest, bool on) {
  const char kind = rest.front();
  rest.remove_prefix(2);
  const std::uint64_t address = take_hex(rest);
  rest.remove_prefix(1);
  const TracedProcess::Watch watch = {address, take_hex(rest)};
  if (kind == '0' || kind == '1') {
    on ? void(breakpoints_.insert(address)) : void(breakpoints_.erase(address));
  } else if (kind == '2') {
    on ? void(watches_.insert(watch)) : void(watches_.erase(watch));
  } else {
    return "";
  }
  return "OK";
}

std::string GdbStub::continue_threads(std::string_view rest) {
  TracedProcess::Resume how = {.thread = 0, .over = false};
  bool others = false;
  while (!rest.empty() && rest.front() == ';') {
    rest.remove_prefix(1);
    const std::string_view action = rest.substr(0, rest.find(';'));
    rest.remove_prefix(action.size());
    std::string_view detail = action.substr(1);
    const bool with_signal = action.front() == 'C' || action.front() == 'S';
    const int signal = with_signal ? host_signal(static_cast<int>(take_hex(detail))) : 0;
    const std::string_view name = detail.empty() ? detail : detail.substr(1);
    if (name.empty() || name.ends_with(".-1")) {
      others = true;
      if (how.thread == 0 && with_signal) how.signal = signal;
      continue;
    }
    how.thread = lwp_named(name);
    how.signal = signal;
    how.step = action.front() == 's' || action.front() == 'S';
  }
  how.alone = !others;
  if (how.thread == 0) how.thread = last_.lwp;
  process().breakpoints = breakpoints_;
  process().watches = watches_;
  here_.position.reset();
  if (packets_.interrupted()) {
    last_ = Stop{StopReason::kInterrupted, 0, 0, 0};
    return answer_stop();
  }
  const itimerval often = {{0, 50000}, {0, 50000}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  process().quick_loops = !how.step;
  last_ = process().run(how);
  process().show_loops();
  setitimer(ITIMER_REAL, &never, nullptr);
  return answer_stop();
}

Position GdbStub::position() {
  const std::optional<pid_t> running = running_thread(process());
  selected_ = running.value_or(selected_);
  if (here_.position) return *here_.position;
  process().unwatch();
  process().breakpoints.clear();
  const Position end = end_of_run();
  if (running && !process().in_runtime(process().registers(selected_).rip)) {
    here_.position = timeline_.position_of(process(), selected_);
    return *here_.position;
  }
  if (running) {
    process().passes_all_signals = true;
    const Stop stop = process().run({.lands = true});
    if (stop.reason == StopReason::kStepped) return timeline_.position_of(process(), stop.lwp);
  }
  timeline_.note_end(end.progress.event);
  return end;
}

// Other processes of the tree may have gone on after the end of this one.
Position GdbStub::end_of_run() {
  const std::uint64_t event = std::min(process().core().progress().event - 1, timeline_.last_event()) + 1;
  return {{event, ~0ull}, index_of(process(), selected_).value_or(0), 0, 1, 0};
}

std::string GdbStub::go_back(std::string_view) {
  Position from = position();
  if (from.steps != 0) from = timeline_.position_of(process(), selected_);
  Wanted wanted = {{}, watches_, passed_signals_, {}};
  for (const std::uint64_t address : breakpoints_)
    if (!process().in_runtime(address)) wanted.breakpoints.insert(address);
  return arrive(timeline_.back(from, wanted));
}

std::string GdbStub::step_back(std::string_view) {
  const pid_t asked = lwp_named(to_go_on_);
  const auto thread = index_of(process(), asked != 0 ? asked : selected_);
  const Position from = position();
  return arrive(timeline_.step_back(from, thread.value_or(from.thread)));
}

std::string GdbStub::arrive(Found found) {
  last_ = found.stop;
  adopt(std::move(found.place));
  pid_seen();
  return describe(last_, found.at_begin ? "replaylog:begin;" : "");
}

std::string GdbStub::command(std::string_view rest) {
  const std::string text = from_hex(rest);
  if (const auto answer = ask(text)) return to_hex(*answer);
  if (text == "position") return to_hex(named_place() + "\n");
  if (text == "pid") return to_hex(std::to_string(process().pid()) + "\n");
  if (text == "checkpoints") {
    const Checkpoints& made = timeline_.checkpoints();
    return to_hex(fmt::format("{} {} {}\n", made.count(), made.memory(), made.refusal()));
  }
  if (text == "stop-seen") {
    packets_.forget_interruption();
    return "OK";
  }
  if (text == "hash") return to_hex(fmt::format("{:016x}\n", hash_of_memory(process().pid())));
  return to_hex("reweave: monitor position, monitor pid\n");
}

std::string GdbStub::named_place() {
  const std::optional<pid_t> running = running_thread(process());
  if (!running || process().in_runtime(process().registers(*running).rip))
    return fmt::format("{}/in the runtime", process().core().progress().event);
  const pid_t selected = selected_;
  const std::string name = name_of(position());
  selected_ = selected;
  return name;
}

}  // namespace reweave

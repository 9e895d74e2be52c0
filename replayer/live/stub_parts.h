// The stub's class. gdb_stub.cc dispatches packets, stub_state.cc reads and changes the process, stub_motion.cc moves
// it forward and backward, stub_questions.cc answers questions about the past.
#pragma once

#include <span>

#include "replayer/live/packets.h"
#include "replayer/live/thread_storage.h"
#include "replayer/live/timeline.h"

namespace reweave {

// Serves one gdb, and shows it one process at a time. Going backward replaces that process by another.
class GdbStub {
 public:
  GdbStub(const ReplaySource& source, const std::string& where, bool quiet);

  // `socket` leads to gdb.
  void connect(int socket) { packets_ = Packets(socket, socket); }
  // The announcement for gdb's script, as a line.
  std::string announcement() { return here_.replay->place().dump() + "\n"; }

  // Serves gdb until it leaves. Returns the exit status.
  int run();

 private:
  struct Handler {
    std::string_view prefix;
    std::string (GdbStub::*answer)(std::string_view rest);
  };
  static std::span<const Handler> handlers();

  // Makes `place` the process that gdb looks at.
  void adopt(Place place);
  void open(const std::string& where, bool quiet);
  // Nothing if the runtime has ended the process.
  static std::optional<pid_t> running_thread(const TracedProcess& process);
  static pid_t holder_of(const TracedProcess& process);
  TracedProcess& process() { return here_.process(); }

  std::string answer_to(std::string_view packet);

  // Threads are named by their recorded ids, which are the same in every replay.
  std::string name_of_thread(pid_t lwp);
  std::int32_t pid_seen();
  // The thread of that name: the selected one if the name means all threads, 0 if there is none.
  pid_t lwp_named(std::string_view name);
  std::string describe(const Stop& stop, const char* extra = "");
  std::string answer_stop();

  // Answers to packets.
  std::string supported(std::string_view);
  std::string no_acknowledgements(std::string_view);
  std::string answer_to_next();
  std::string why(std::string_view) { return answer_stop(); }
  std::string attached(std::string_view) { return "1"; }
  std::string current(std::string_view) { return "QC" + name_of_thread(selected_); }
  std::string nothing(std::string_view) { return "OK"; }

  std::string select(std::string_view rest);

  std::string alive(std::string_view rest) { return !process().ended() && lwp_named(rest) != 0 ? "OK" : "E01"; }

  std::string registers(std::string_view);
  std::string set_registers(std::string_view rest);
  std::string register_(std::string_view rest);
  std::string set_register(std::string_view rest);

  std::string read(std::string_view rest);
  std::string write_bytes(std::uint64_t address, const std::string& data);
  std::string write(std::string_view rest);
  std::string write_raw(std::string_view rest);

  std::string pass_signals(std::string_view rest);

  std::string insert(std::string_view rest) { return change_stops(rest, true); }
  std::string remove(std::string_view rest) { return change_stops(rest, false); }
  std::string change_stops(std::string_view rest, bool on);

  std::string part(const std::string& all, std::string_view range);
  std::string features(std::string_view rest);
  std::string auxv(std::string_view rest);
  std::string signal_info(std::string_view rest);
  std::string threads(std::string_view rest);

  std::string symbols(std::string_view rest) { return storage_.answer(rest); }
  std::string storage(std::string_view rest);

  // vCont. The first action that names a thread applies to it, one without a name to all others.
  std::string continue_threads(std::string_view rest);
  std::string actions(std::string_view) { return "vCont;c;C;s;S"; }

  // The position of the running thread, even if another one is selected. If the thread is in the runtime, this lets it
  // continue until it is in the program or the run ends. So call this only before leaving this place, or if the user
  // asked for its name.
  Position position();
  // The position after everything that happens at this event.
  Position end_of_run();

  std::string go_back(std::string_view);
  std::string step_back(std::string_view);
  std::string arrive(Found found);
  std::string stay();

  std::string command(std::string_view rest);
  std::string named_place();

  // Questions about the past: `monitor` commands that answer with a line of JSON. Nothing if `text` is not a question.
  std::optional<std::string> ask(std::string_view text);
  // The position from which to look back. The process is not moved.
  Position origin();
  std::string answer_found(Found found, const TracedProcess::Watch* watch);
  std::string last_change(std::string_view rest);
  std::string last_release(std::string_view rest);
  std::string visit(std::string_view);
  std::string leave(std::string_view);

  std::string kill(std::string_view);
  std::string vkill(std::string_view);

  Packets packets_ = {-1, -1};
  CoreSymbols symbols_;
  Timeline timeline_;
  Place here_;
  struct Parked {
    Place place;
    pid_t selected;
    Stop last;
  };
  std::optional<Parked> parked_;       // the place to which gdb returns after a visit
  std::optional<Position> answer_at_;  // the position of the last answer
  pid_t selected_ = 0;
  std::string to_go_on_;  // gdb's name of the thread that steps next; empty: the selected one
  Stop last_;
  std::int32_t recorded_pid_ = 1;
  std::set<std::uint64_t> breakpoints_;
  std::set<TracedProcess::Watch> watches_;
  std::set<int> passed_signals_;
  ThreadStorage storage_;
  bool ended_ = false;
};

}  // namespace reweave

// gdb on a replayed process.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct DebugArguments {
  std::string recording;
  std::string where;          // the event to stop before, or "end"
  std::int32_t pid = 0;       // the process to debug, as recorded; 0: see plan_hold
  bool batch = false;         // run `commands` without a terminal
  std::string commands = {};  // separated by ';'
  bool discard_output = false;
  int mi_output = -1;       // if not -1: gdb talks MI on its standard streams, the program's output goes here
  bool backward = false;    // gdb talks to our stub (live/gdb_stub.h), which can go backward
  std::string moment = {};  // "THREAD:ADDRESS:NUMBER", used instead of `where` (gdb/moment.py) unless empty
};

// The path of one of the replayer's files: beside the running program, or in its library folder (like find_runtime()).
std::string find_replayer_file(const std::string& folder, const std::string& name);

// Becomes gdb, so that its exit status is ours. Returns only by throwing, if gdb cannot be started.
[[noreturn]] void debug_recording(const DebugArguments& arguments);

}  // namespace reweave

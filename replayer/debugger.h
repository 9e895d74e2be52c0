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
  int mi_output = -1;       // gdb talks MI on its standard streams, and the program's output goes to this descriptor
  bool backward = false;    // gdb talks to our stub (live/gdb_stub.h), which can go backward
  std::string moment = {};  // "THREAD:ADDRESS:NUMBER", instead of `where` (gdb/moment.py); empty: there is none
};

// A file of the replayer's: beside the running program, or in its library folder (like find_runtime()).
std::string find_replayer_file(const std::string& folder, const std::string& name);

// Becomes gdb: its exit status is ours. Returns only by throwing, if gdb cannot be started.
[[noreturn]] void debug_recording(const DebugArguments& arguments);

}  // namespace reweave

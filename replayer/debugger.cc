#include "replayer/debugger.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "formats/error.h"
#include "replayer/watchpoints.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// The script that gdb loads: beside the running program, or in its library folder (like find_runtime()).
std::string find_script(const fs::path& self) {
  for (const fs::path& folder : {self.parent_path() / "replayer/gdb", self.parent_path() / "../lib/reweave/gdb"}) {
    const fs::path script = folder / "reweave_gdb.py";
    if (fs::exists(script)) return fs::canonical(script).string();
  }
  throw BadInput(fmt::format("reweave_gdb.py is not beside {}; build again with scripts/build", self.string()));
}

// `commands` split at ';', except within quotes.
std::vector<std::string> split_commands(const std::string& commands) {
  std::vector<std::string> list(1);
  char quote = 0;
  for (const char c : commands) {
    if (quote == 0 && c == ';') {
      list.emplace_back();
      continue;
    }
    if (c == quote)
      quote = 0;
    else if (quote == 0 && c == '"')
      quote = c;
    list.back() += c;
  }
  for (std::string& command : list) {
    command.erase(0, command.find_first_not_of(' '));
    command.erase(command.find_last_not_of(' ') + 1);
  }
  std::erase_if(list, [](const std::string& command) { return command.empty(); });
  return list;
}

}  // namespace

void debug_recording(const DebugArguments& arguments) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const std::string script = find_script(self);
  // The script reads these: no quoting can go wrong on the way.
  setenv("REWEAVE_GDB_PROGRAM", self.c_str(), 1);
  setenv("REWEAVE_GDB_RECORDING", fs::absolute(arguments.recording).c_str(), 1);
  setenv("REWEAVE_GDB_PID", arguments.pid == 0 ? "" : std::to_string(arguments.pid).c_str(), 1);
  setenv("REWEAVE_GDB_EVENT", arguments.where.c_str(), 1);
  setenv("REWEAVE_GDB_QUIET", arguments.discard_output ? "1" : "", 1);
  std::vector<std::string> list = {"gdb", "-q"};
  if (arguments.batch) list.insert(list.end(), {"-nx", "-batch"});
  if (!hardware_watchpoints_work()) {
    fmt::print(stderr, "reweave: hardware watchpoints do nothing on this machine; gdb steps instead, which is slow\n");
    list.insert(list.end(), {"-ex", "set can-use-hw-watchpoints 0"});
  }
  list.insert(list.end(), {"-x", script});
  if (arguments.batch)
    for (const std::string& command : split_commands(arguments.commands)) list.insert(list.end(), {"-ex", command});
  std::vector<char*> argv;
  for (std::string& argument : list) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp("gdb", argv.data());
  REQUIRE(errno != ENOENT, "gdb is not installed; install it, on Debian with `apt install gdb`");
  throw SystemError(fmt::format("cannot start gdb: {}", std::strerror(errno)), errno);
}

}  // namespace reweave

#include "replayer/debugger.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/terminal.h"
#include "formats/elf/library_code.h"
#include "replayer/watchpoints.h"

namespace reweave {

namespace fs = std::filesystem;

std::string find_replayer_file(const std::string& folder, const std::string& name) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const fs::path& above : {self.parent_path() / "replayer", self.parent_path() / "../lib/reweave"}) {
    const fs::path file = above / folder / name;
    if (fs::exists(file)) return fs::canonical(file).string();
  }
  throw BadInput(fmt::format("{} is not beside {}; build again with scripts/build", name, self.string()));
}

namespace {

// Splits `commands` at each ';' outside quotes.
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
  const std::string script = find_replayer_file("gdb", "reweave_gdb.py");
  // The script takes these from the environment, where no quoting is needed.
  setenv("REWEAVE_GDB_PROGRAM", self.c_str(), 1);
  setenv("REWEAVE_GDB_RECORDING", fs::absolute(arguments.recording).c_str(), 1);
  setenv("REWEAVE_GDB_PID", arguments.pid == 0 ? "" : std::to_string(arguments.pid).c_str(), 1);
  setenv("REWEAVE_GDB_EVENT", arguments.where.c_str(), 1);
  setenv("REWEAVE_GDB_MOMENT", arguments.moment.c_str(), 1);
  std::string libraries;
  for (const std::string_view folder : kLibrarySources) libraries.append(libraries.empty() ? "" : ":").append(folder);
  setenv("REWEAVE_GDB_LIBRARIES", libraries.c_str(), 1);
  setenv("REWEAVE_GDB_QUIET", arguments.discard_output ? "1" : "", 1);
  setenv("REWEAVE_GDB_BACKWARD", arguments.backward ? "1" : "", 1);
  setenv("REWEAVE_GDB_OUTPUT", arguments.mi_output < 0 ? "" : std::to_string(arguments.mi_output).c_str(), 1);
  std::vector<std::string> list = {"gdb", "-q"};
  if (arguments.mi_output >= 0) {
    list.insert(list.end(), {"-nx", "-i=mi3"});
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // gdb does not notice the end of its input while the program runs
  }
  if (arguments.batch) list.insert(list.end(), {"-nx", "-batch"});
  if (!arguments.backward && !hardware_watchpoints_work()) {
    notice("hardware watchpoints do nothing on this machine; gdb steps instead, which is slow");
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

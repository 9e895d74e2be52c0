#include "replayer/dap_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "formats/base/error.h"
#include "replayer/debugger.h"

namespace reweave {

namespace {

// Becomes the adapter (dap/reweave_dap.py).
[[noreturn]] void serve_dap() {
  std::string script = find_replayer_file("dap", "reweave_dap.py");
  setenv("REWEAVE_DAP_PROGRAM", std::filesystem::read_symlink("/proc/self/exe").c_str(), 1);
  execlp("python3", "python3", script.c_str(), nullptr);
  REQUIRE(errno != ENOENT, "python3 is not installed; install it, on Debian with `apt install python3`");
  throw SystemError(fmt::format("cannot start python3: {}", std::strerror(errno)), errno);
}

}  // namespace

void add_dap_command(CLI::App& app) {
  auto extension = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("dap", "debug recordings from an editor (Debug Adapter Protocol)");
  verb->footer(
      "Speaks the protocol on standard input and output; the editor starts it. A launch configuration names the\n"
      "recording; see docs/debugging.md.");
  verb->add_flag("--extension", *extension, "only print where the extension for VS Code is");
  verb->callback([extension] {
    if (!*extension) serve_dap();
    fmt::print("{}\n", find_replayer_file("vscode", "reweave.vsix"));
  });
}

}  // namespace reweave

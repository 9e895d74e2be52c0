// The results of `reweave doctor`.
#pragma once

#include <string>
#include <vector>

namespace reweave {

// kWarn: recording works, but something will be missing. kFail: recording does not work.
enum class Verdict { kOk, kWarn, kFail };

struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string text;    // what was found
  std::string remedy;  // what to do about it; empty: nothing
};

// Checks the kernel, the processor and the environment. The last check records and replays a small program.
std::vector<Check> check_machine();
// Checks debuggers and compilers, and whether rr could run here.
std::vector<Check> check_tools();
// Checks a program, found as a shell would find it.
std::vector<Check> check_program(const std::string& name);

}  // namespace reweave

// What `reweave doctor` has looked at.
#pragma once

#include <string>
#include <vector>

namespace reweave {

// kWarn: it records, but something will be missing. kFail: it does not record.
enum class Verdict { kOk, kWarn, kFail };

struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string text;    // what is so
  std::string remedy;  // what to do about it; empty: nothing
};

// The kernel, the processor and what surrounds us, in the end by recording and replaying a small program.
std::vector<Check> check_machine();
// Debuggers and compilers, and whether rr could run here.
std::vector<Check> check_tools();
// A program, found as a shell would.
std::vector<Check> check_program(const std::string& name);

}  // namespace reweave

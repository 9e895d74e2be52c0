#include "recorder/supervisor/call_names.h"

#include <algorithm>
#include <iterator>

#include "formats/error.h"

namespace reweave {

namespace {

struct CallName {
  unsigned number;
  const char* name;
};

constexpr unsigned kImageStart = 0x5258;     // core/dispatch.h
constexpr unsigned kFileContents = 0x5259;   // likewise
constexpr unsigned kFileChanged = 0x525a;    // likewise
constexpr unsigned kScriptHead = 0x525b;     // likewise
constexpr unsigned kOutputPart = 0x525c;     // likewise
constexpr unsigned kMemoryChanged = 0x525d;  // likewise

constexpr CallName kNames[] = {
#define ROW(number, name, ...) {number, name},
#include "recorder/core/syscalls/rows.inc"
#undef ROW
    {kImageStart, "(program start)"},
    {kFileContents, "(file contents)"},
    {kFileChanged, "(file changed)"},
    {kScriptHead, "(head of a script)"},
    {kOutputPart, "(part of what the next call wrote)"},
    {kMemoryChanged, "(memory of a process)"},
};

}  // namespace

std::string system_call_name(unsigned number) {
  const auto* found = std::lower_bound(std::begin(kNames), std::end(kNames), number,
                                       [](const CallName& row, unsigned n) { return row.number < n; });
  if (found != std::end(kNames) && found->number == number) return found->name;
  return fmt::format("call {}", number);
}

bool is_program_start(unsigned number) { return number == kImageStart; }

}  // namespace reweave

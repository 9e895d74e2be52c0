#include "recorder/supervisor/process/call_names.h"

#include <algorithm>
#include <iterator>

#include "formats/base/error.h"
#include "formats/wire.h"

namespace reweave {

namespace {

struct CallName {
  unsigned number;
  const char* name;
};

constexpr CallName kNames[] = {
#define ROW(number, name, ...) {number, name},
#include "recorder/core/syscalls/rows.inc"
#undef ROW
    {wire::kImageStart, "(program start)"},
    {wire::kFileContents, "(file contents)"},
    {wire::kFileChanged, "(file changed)"},
    {wire::kScriptHead, "(head of a script)"},
    {wire::kOutputPart, "(part of what the next call wrote)"},
    {wire::kMemoryChanged, "(memory of a process)"},
};

}  // namespace

std::string system_call_name(unsigned number) {
  const auto* found = std::lower_bound(std::begin(kNames), std::end(kNames), number,
                                       [](const CallName& row, unsigned n) { return row.number < n; });
  if (found != std::end(kNames) && found->number == number) return found->name;
  return fmt::format("call {}", number);
}

bool is_program_start(unsigned number) { return number == wire::kImageStart; }

}  // namespace reweave

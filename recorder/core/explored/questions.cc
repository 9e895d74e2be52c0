// Calls that ask the kernel, and change nothing that another run could see. Without a recorded answer the kernel gives
// one: a failing run is often the first to ask, for its report.
#include <sys/resource.h>

#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/files/system_paths.h"
#include "recorder/core/syscalls/outputs.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

bool explore_question(Call& call, long& result) {
  static Output outputs[kMaxOutputs];
  const Before before = look_before(call);
  const long* args = call.args;
  result = sys(call.number, args[0], args[1], args[2], args[3], args[4], args[5]);
  const std::uint32_t count = gather_outputs(call, before, result, outputs);
  log_call(call, result, outputs, count);
  return true;
}

bool explore_question_of_path(Call& call, long& result) {
  const char* path = first_path(call);
  return path != nullptr && belongs_to_system(path) && explore_question(call, result);
}

// Crash handlers forbid core dumps. Explored runs never leave one.
bool explore_setrlimit(Call& call, long& result) {
  if (call.logged[0] != RLIMIT_CORE) return false;
  return result = complete(call, 0), true;
}

bool explore_prlimit(Call& call, long& result) {
  const bool is_new = call.logged[2] != 0, tells = call.logged[3] != 0;
  if (!is_new) return explore_question(call, result);
  if (call.logged[1] != RLIMIT_CORE || tells) return false;
  return result = complete(call, 0), true;
}

}  // namespace reweave::core

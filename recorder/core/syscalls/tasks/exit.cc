// exit and exit_group.
#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/log/agree.h"
#include "recorder/core/log/log.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"
#include "recorder/core/syscalls/tasks/checkpoint.h"

namespace reweave::core {

long handle_exit(Call& call) {
  Thread& me = call.me;
  complete(call, 0);
  stop_at_event(call.context, PTRACE_EVENT_EXIT, (call.args[0] & 0xff) << 8);
  finish_thread(me);
  if (process().live_threads == 1) {
    end_process((call.args[0] & 0xff) << 8);
    sys(SYS_exit_group, call.args[0]);
  }
  agree<wire::ThreadExitRecord>(
      wire::RecordKind::kThreadExit, "ended", [](wire::ThreadExitRecord& record) { record.step = state().step; },
      [](const wire::ThreadExitRecord&) -> const char* { return nullptr; });
  leave_tracing(me, static_cast<std::int32_t>((call.args[0] & 0xff) << 8));
  me.seccomp = 0;
  silence_bells();
  retire_self();
  end_kernel_thread(call.args[0]);
}

long handle_exit_group(Call& call) {
  complete(call, 0);
  stop_at_event(call.context, PTRACE_EVENT_EXIT, (call.args[0] & 0xff) << 8);
  end_process((call.args[0] & 0xff) << 8);
  if (!modelled()) flush_out();  // the supervisor of an explored run waits for its end
  sys(SYS_exit_group, call.args[0]);
  __builtin_unreachable();
}

}  // namespace reweave::core

#include "recorder/core/base/fatal.h"

#include <sys/syscall.h>

#include <linux/futex.h>

#pragma GCC visibility push(hidden)
extern "C" void core_note_stop(std::uint32_t outcome, const char* message);  // entry.S
#pragma GCC visibility pop

namespace reweave::core {

Text& Text::operator<<(const char* s) {
  for (; *s != 0; s++) put(*s);
  return *this;
}

Text& Text::operator<<(std::uint64_t value) {
  char digits[20];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + value % 10), value /= 10;
  while (value != 0);
  while (n > 0) put(digits[--n]);
  return *this;
}

Text& Text::operator<<(std::int64_t value) {
  if (value >= 0) return *this << static_cast<std::uint64_t>(value);
  put('-');
  return *this << -static_cast<std::uint64_t>(value);
}

Text& Text::hex(std::uint64_t value) {
  put('0'), put('x');
  int shift = 60;
  while (shift > 0 && (value >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
  return *this;
}

void stop_run(wire::OutcomeKind outcome, const char* message) {
  core_note_stop(static_cast<std::uint32_t>(outcome), message);
  RunStatus& status = arena().status;
  copy_string(status.message, sizeof status.message, message);
  status.outcome = static_cast<std::uint32_t>(outcome);
  status.fatal.store(1);
  sys(SYS_futex, &status.fatal, FUTEX_WAKE, 1);
  // The processes of an explored run are a process group (explored/fork_server.cc).
  if (state().run_is_tree != 0) sys(SYS_kill, 0, 9 /* SIGKILL */);
  sys(SYS_exit_group, 99);
  __builtin_unreachable();
}

void bug(const char* what) {
  Text text;
  text << "internal error: " << what << "; please report it, with the command";
  stop_run(wire::OutcomeKind::kDiverged, text);
}

}  // namespace reweave::core

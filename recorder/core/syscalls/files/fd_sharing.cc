#include "recorder/core/syscalls/files/fd_sharing.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

std::uint32_t unused_table() {
  RuntimeState& s = state();
  const std::uint32_t index = s.fd_tables_in_use.first_absent();
  if (index == kMaxFdTables) stop_run(wire::OutcomeKind::kUnsupported, "more than 8192 descriptor tables at a time");
  if (index >= s.fd_tables_used) s.fd_tables_used = index + 1;
  return index;
}

// Gives `to`, which has no table, a copy of table `from`.
void copy_table(std::uint32_t from, Thread& to) {
  const std::uint32_t index = unused_table();
  if (modelled() && !explored.copy_descriptors(from, index))
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: it has too many descriptor tables");
  FdTable& copy = state().fd_tables[index];
  memcpy(&copy, &state().fd_tables[from], sizeof copy);
  copy.users = 0;
  if (state().last_opened.table == index) state().last_opened.known = 0;  // left from a previous user of the table
  use_fd_table(state(), to, index);
}

}  // namespace

void give_descriptors(const Thread& from, Thread& to, bool shared) {
  if (shared)
    use_fd_table(state(), to, from.fd_table);
  else
    copy_table(from.fd_table, to);
}

void unshare_descriptors() {
  Thread& me = self();
  if (table_of(me).users == 1) return;
  const std::uint32_t shared = me.fd_table;
  leave_fd_table(state(), me);
  copy_table(shared, me);
}

}  // namespace reweave::core

#include "recorder/core/syscalls/files/fd_sharing.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/explored_answers.h"

namespace reweave::core {

namespace {

std::uint32_t unused_table() {
  RuntimeState& s = state();
  FdTableSet used;
  for (std::uint32_t i = 0; i < s.live_threads; i++) used.add(s.threads[s.live[i]].fd_table);
  for (std::uint32_t i = 0; i < kMaxFdTables; i++) {
    if (!used.add(i)) continue;
    if (i >= s.fd_tables_used) s.fd_tables_used = i + 1;
    return i;
  }
  stop_run(wire::OutcomeKind::kUnsupported, "more than 8192 descriptor tables at a time");
}

void copy_table(const Thread& from, Thread& to) {
  const std::uint32_t index = unused_table();
  if (modelled() && !explored.copy_descriptors(from.fd_table, index))
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: it has too many descriptor tables");
  memcpy(&state().fd_tables[index], &table_of(from), sizeof(FdTable));
  if (state().last_opened.table == index) state().last_opened.known = 0;  // left from a previous user of the table
  to.fd_table = index;
}

}  // namespace

void give_descriptors(const Thread& from, Thread& to, bool shared) {
  to.fd_table = from.fd_table;
  if (!shared) copy_table(from, to);
}

void unshare_descriptors() {
  const RuntimeState& s = state();
  Thread& me = self();
  for (std::uint32_t i = 0; i < s.live_threads; i++)
    if (s.live[i] != me.id && thread_of(s.live[i]).fd_table == me.fd_table) return copy_table(me, me);
}

}  // namespace reweave::core

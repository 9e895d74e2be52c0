#include "recorder/core/schedule/state_copy.h"

namespace reweave::core {

namespace {

template <typename Item>
void copy_used(Item* to, const Item* from, std::uint32_t used) {
  memcpy(static_cast<void*>(to), from, used * sizeof(Item));
}

}  // namespace

void copy_state(RuntimeState& to) {
  const RuntimeState& from = state();
  const auto always = reinterpret_cast<const std::byte*>(from.stand_ins) - reinterpret_cast<const std::byte*>(&from);
  memcpy(static_cast<void*>(&to), &from, static_cast<std::uint64_t>(always));
  copy_used(to.stand_ins, from.stand_ins, from.stand_in_count);
  copy_used(to.stand_in_sizes, from.stand_in_sizes, from.stand_in_count);
  copy_used(to.seccomp_filters, from.seccomp_filters, from.seccomp_count);
  copy_used(to.seccomp_instructions, from.seccomp_instructions, from.seccomp_used);
  copy_used(to.futex_vectors, from.futex_vectors, from.futex_vectors_used);
  if (from.ended_threads != 0) copy_used(to.ended, from.ended, kMaxThreads);  // a ring
  copy_used(to.processes, from.processes, from.process_count);
  copy_used(to.fd_tables, from.fd_tables, from.fd_tables_used);
  copy_used(to.threads, from.threads, from.thread_count);
}

}  // namespace reweave::core

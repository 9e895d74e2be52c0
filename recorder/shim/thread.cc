// pthread_create and pthread_join: glibc does the work; the trace records which thread joined which.
#include <pthread.h>

#include <type_traits>

#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_create = {"pthread_create"};
Real<int(pthread_t, void**)> real_join = {"pthread_join"};
Real<int(pthread_t, void**, const timespec*)> real_timedjoin = {"pthread_timedjoin_np"};
Real<int(pthread_t)> real_detach = {"pthread_detach"};
Real<int(pthread_t, void**)> real_tryjoin = {"pthread_tryjoin_np"};

// The function that a new thread runs. The creator takes a slot and the thread frees it; the baton guards both.
struct Start {
  void* (*routine)(void*);
  void* argument;
  Start* next;  // of the slots that were freed
};
constexpr std::uint32_t kSlots = 4096;
Start slots[kSlots];
std::uint32_t slots_used;  // at least once
Start* freed_slots;
// By ThreadId: its pthread_t, present or former.
pthread_t handles[kMaxThreads];
// Threads by handle: chains of ID + 1, each starting in `chains`. A handle is in one chain, with its newest thread,
// because glibc reuses handles.
constexpr std::uint32_t kChains = 4096;
std::uint16_t chains[kChains], next_in_chain[kMaxThreads];

std::uint16_t& chain_of(pthread_t handle) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  return chains[(handle * kSpread >> 32) % kChains];
}

// Returns the link to the thread with this handle, or the end of the chain.
std::uint16_t& link_to(pthread_t handle) {
  std::uint16_t* link = &chain_of(handle);
  while (*link != 0 && handles[*link - 1] != handle) link = &next_in_chain[*link - 1];
  return *link;
}

void forget_handle(pthread_t handle) {
  std::uint16_t& link = link_to(handle);
  if (link != 0) link = next_in_chain[link - 1];
}

void note_handle(ThreadId id, pthread_t handle) {
  if (handles[id] != 0 && link_to(handles[id]) == id + 1) forget_handle(handles[id]);
  forget_handle(handle);
  handles[id] = handle;
  next_in_chain[id] = chain_of(handle);
  chain_of(handle) = static_cast<std::uint16_t>(id + 1);
}

// 0 if the handle is unknown.
ThreadId thread_of(pthread_t handle) {
  const std::uint16_t link = link_to(handle);
  return link == 0 ? 0 : static_cast<ThreadId>(link - 1);
}

// Null if all are taken.
Start* take_slot() {
  if (freed_slots == nullptr) return slots_used < kSlots ? &slots[slots_used++] : nullptr;
  Start* slot = freed_slots;
  freed_slots = slot->next;
  return slot;
}

void free_slot(Start& slot) {
  slot.next = freed_slots;
  freed_slots = &slot;
}

}  // namespace

// Exported, because a stripped library keeps only the names of exported functions. Stacks in traces end at this
// function (predictor/model/code_names.h).
[[gnu::visibility("default")]] void* run_thread(void* raw) {
  auto* slot = static_cast<Start*>(raw);
  const Start start = *slot;
  free_slot(*slot);
  note_handle(self().id, pthread_self());
  return start.routine(start.argument);
}

namespace {

// Calls `join` with these arguments. The report of a deadlock shows `pc` as the place of the wait, not an address in
// glibc.
template <typename... Arguments>
int join_from(std::uint64_t pc, Real<int(Arguments...)>& join, std::type_identity_t<Arguments>... arguments) {
  point(OpKind::kJoin, nullptr, pc);
  const WaitsAt place(pc);
  return join(arguments...);
}

// The thread has run, so its handle is known, and the handle has not been reused yet, because the caller has the baton.
int joined(int result, pthread_t handle, std::uint64_t pc) {
  if (result == 0) note(EventKind::kJoin, nullptr, pc, 0, thread_of(handle));
  return result;
}

bool starts_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attributes != nullptr && pthread_attr_getdetachstate(attributes, &state) == 0 &&
         state == PTHREAD_CREATE_DETACHED;
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*routine)(void*),
                                  void* argument) {
  point(OpKind::kCreate, nullptr, REWEAVE_CALLER);
  Start* slot = take_slot();
  note_hint(Hint::kCreatesThread, nullptr, REWEAVE_CALLER, starts_detached(attributes) ? 1 : 0);
  if (slot == nullptr) return real_create(handle, attributes, routine, argument);
  *slot = {routine, argument, nullptr};
  const int result = real_create(handle, attributes, run_thread, slot);
  if (result != 0) free_slot(*slot);
  return result;
}

REWEAVE_EXPORT int pthread_join(pthread_t handle, void** value) {
  return joined(join_from(REWEAVE_CALLER, real_join, handle, value), handle, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_detach(pthread_t handle) {
  note_hint(Hint::kDetaches, reinterpret_cast<const void*>(handle), REWEAVE_CALLER, 0);
  return real_detach(handle);
}

REWEAVE_EXPORT int pthread_tryjoin_np(pthread_t handle, void** value) {
  return joined(join_from(REWEAVE_CALLER, real_tryjoin, handle, value), handle, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_timedjoin_np(pthread_t handle, void** value, const timespec* deadline) {
  return joined(join_from(REWEAVE_CALLER, real_timedjoin, handle, value, deadline), handle, REWEAVE_CALLER);
}

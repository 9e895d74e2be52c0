// Recording: who runs next, as the run's policy has it (recorder/policy.h).
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// A thread id, or none.
struct MaybeThread {
  bool some;
  ThreadId id;
};

// True if `thread` can go on without being woken: it is ready, its deadline passed, or a signal came.
bool may_resume(const Thread& thread);

// Whoever makes a thread able to run says so, after that (recorder/awake_threads.h).
void note_awake(ThreadId id);
// A thread but `me` can, or `me` can again, though it waited.
bool somebody_may_resume(const Thread& me);

// Asks the policy; none if no thread can run. `me` is the caller, which may go on itself if `me_enabled`; `yielded`: it
// would rather not. `undisturbed`: how many schedule points the chosen thread has before it need ask again.
MaybeThread choose_live(Thread& me, bool me_enabled, bool yielded, std::int64_t& undisturbed);

// What the policy last said holds at calls as well, and nobody observes its choices: it need not be asked there.
bool policy_holds_at_calls();

// Starts the policy of this run. Called once, by the first thread.
void begin_policy();

}  // namespace reweave::core

// Recording: the run's policy chooses which thread runs next (recorder/policy.h).
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// A thread ID, or none.
struct MaybeThread {
  bool some;
  ThreadId id;
};

// True if `thread` can continue without being woken: it is ready, its deadline has passed, or a signal came.
bool may_resume(const Thread& thread);

// To be called by code that has just made a thread able to run (RuntimeState::awake).
void note_awake(ThreadId id);
// True if a thread other than `me` can run, or if `me` waited and can run again.
bool somebody_may_resume(const Thread& me);

// Asks the policy; none if no thread can run. `me` is the caller, which may continue itself if `me_enabled`; `yielded`:
// it would rather not. `undisturbed`: the schedule points that the chosen thread has before it need ask again.
MaybeThread choose_live(Thread& me, bool me_enabled, bool yielded, std::int64_t& undisturbed);

// True if the policy's last answer also holds at calls and its choices are not observed: it need not be asked there.
bool policy_holds_at_calls();

// Starts the policy of this run. Called once, by the first thread.
void begin_policy();

}  // namespace reweave::core

// A policy decides which thread runs next. The core asks it without naming any particular policy.
//
// A policy runs inside the target, on the core's stack, with the baton: no allocation, no system calls, no mutable
// statics. Its memory is PolicyState, in the arena, so that all processes of the tree share it. To add a policy, write
// a file in explorer/strategies with a `const Policy`, and add a line to explorer/strategies/all.cc.
#pragma once

#include "recorder/runtime_state.h"
#include "recorder/splitmix.h"

namespace reweave {

// Arguments of a choice. `enabled` holds `count` >= 1 threads in order of creation; any of them may be chosen.
struct ChoiceArgs {
  const PolicyConfig& config;
  PolicyState& state;
  const Thread* threads;  // by ThreadId
  const ThreadId* enabled;
  std::uint32_t count;
  const Thread& current;  // the thread that has the baton
  bool current_enabled;   // `current` is in `enabled`
  bool yielded;           // it offers to let another thread run
  std::uint64_t step;     // global schedule point number
  const std::byte* goal;  // config.goal_bytes bytes, or null
};

// The answer: the thread, and the number of its schedule points for which the policy need not be asked again (0: ask at
// the next one). Synchronisation operations and system calls ask all the same, unless holds_at_calls.
struct Choice {
  ThreadId thread;
  std::int64_t undisturbed;
};

struct Policy {
  const char* name;
  const char* help;  // one line
  void (*begin_run)(const PolicyConfig&, PolicyState&);
  Choice (*choose)(const ChoiceArgs&);
  // `undisturbed` also applies to synchronisation operations and system calls.
  bool holds_at_calls = false;
  // It lets the current thread continue, or else the next one by ID, then the first. `enabled` need have no others.
  bool takes_turns = false;
};

// The policy with that name, or null. Defined above this layer, in explorer/strategies/all.cc.
const Policy* find_policy(const char* name);

// xoshiro256** (Blackman and Vigna, 2018): the generator of all policies.
inline std::uint64_t next_random(PolicyState& state) {
  auto rotate = [](std::uint64_t x, int k) { return x << k | x >> (64 - k); };
  std::uint64_t* s = state.random;
  const std::uint64_t result = rotate(s[1] * 5, 7) * 9;
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

// Uniform in [0, bound), bound >= 1; the bias of the multiplication method is below 2^-32 for the bounds used here.
inline std::uint64_t random_below(PolicyState& state, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next_random(state)) * bound) >> 64);
}

// Seeds the generator by splitmix64, as its authors recommend.
inline void seed_random(PolicyState& state, std::uint64_t seed) {
  for (std::uint64_t& word : state.random) word = next_splitmix(seed);
}

}  // namespace reweave

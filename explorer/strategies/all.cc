// All policies. To add one, add its file, a name here and the file in meson.build.
#include "recorder/policy.h"

namespace reweave {

// clang-format off
#define POLICIES(ROW) \
  ROW(Native) ROW(Chaos) ROW(Random) ROW(Pct) ROW(Pos) ROW(Surw) ROW(Prefix) ROW(Priorities) ROW(Active) \
  ROW(Schedule) ROW(Wedge) ROW(Witness) ROW(Branch) ROW(Fair) ROW(Guided) ROW(Calm) ROW(Handover)
// clang-format on

#define DECLARE(name) extern const Policy k##name##Policy;
POLICIES(DECLARE)
#undef DECLARE

namespace {

#define ADDRESS(name) &k##name##Policy,
const Policy* const kPolicies[] = {POLICIES(ADDRESS)};
#undef ADDRESS

bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}

}  // namespace

const Policy* find_policy(const char* name) {
  for (const Policy* policy : kPolicies)
    if (same(policy->name, name)) return policy;
  return nullptr;
}

}  // namespace reweave

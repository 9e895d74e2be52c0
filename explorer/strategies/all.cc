// All policies. To add one: its file, a line here, a line in meson.build.
#include "explorer/strategies/all.h"

namespace reweave {

extern const Policy kActivePolicy, kBranchPolicy, kCalmPolicy, kChaosPolicy, kFairPolicy, kGuidedPolicy, kNativePolicy,
    kPctPolicy, kPosPolicy, kPrefixPolicy, kPrioritiesPolicy, kRandomPolicy, kSchedulePolicy, kSurwPolicy, kWedgePolicy,
    kWitnessPolicy;

namespace {

const Policy* const kPolicies[] = {&kNativePolicy, &kChaosPolicy,    &kRandomPolicy, &kPctPolicy,
                                   &kPosPolicy,    &kSurwPolicy,     &kPrefixPolicy, &kPrioritiesPolicy,
                                   &kActivePolicy, &kSchedulePolicy, &kWedgePolicy,  &kWitnessPolicy,
                                   &kBranchPolicy, &kFairPolicy,     &kGuidedPolicy, &kCalmPolicy};

bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}

}  // namespace

std::uint32_t policy_count() { return sizeof kPolicies / sizeof kPolicies[0]; }

const Policy& policy_at(std::uint32_t index) { return *kPolicies[index]; }

const Policy* find_policy(const char* name) {
  for (const Policy* policy : kPolicies)
    if (same(policy->name, name)) return policy;
  return nullptr;
}

}  // namespace reweave

// The interface of analyses: each proposes groups of possible bugs, cheaply filtered; predict.cc decides which are
// feasible. To add one, write a file in analyses/ and list it in analyses/all.cc and in meson.build. Model:
// analyses/races.cc.
//
// A group is what a person would call one bug: the same code locations. Its instances are the matching places of the
// trace; the first feasible one becomes the finding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "predictor/model/access_classes.h"
#include "predictor/model/lockset.h"
#include "predictor/model/must_order.h"
#include "predictor/model/trace_model.h"
#include "predictor/witness/finding.h"

namespace reweave {

// Bounds of the analyses, and counts of what they left out.
struct Limits {
  std::size_t findings = 1000;              // kept, best first, with an equal share for each kind
  std::size_t classes = kMaxAccessClasses;  // per variable: pairs of thread and code location
  std::size_t pairs = 512;                  // per variable: pairs or triples of classes that are examined
};
struct LeftOut {
  std::uint64_t findings = 0, accesses = 0, pairs = 0;
  std::uint64_t instances = 0;  // of groups, beyond those sampled
  // 1: the trace is too long for the search for schedules in which reads see other writes of the same value.
  std::uint64_t equal_values = 0;
  bool any() const { return findings + accesses + pairs + instances + equal_values > 0; }
};

// The input of analyses; it outlives them.
struct AnalysisInput {
  const TraceModel& model;
  const MustOrder& order;
  const Locksets& locksets;
  std::function<bool()> expired;  // time is up: return the proposals made so far
  Limits limits;
  LeftOut& left_out;

  std::vector<AccessClass> classes_of(std::uint32_t variable) const {
    return access_classes(model, variable, limits.classes, left_out.accesses);
  }
};

struct Instance {
  std::vector<EventIndex> events;  // in the order of the bug
  OrderQuery query;
};

struct Group {
  FindingKind kind = FindingKind::kRace;
  std::string pattern;
  double score = 0;
  std::uint32_t count = 0;
  std::vector<Instance> instances;
};

// The largest number of threads in one deadlock.
inline constexpr std::size_t kMostDeadlocked = 8;

// Groups by key, each with a bounded number of instances, sampled from all that were found.
class GroupTable {
 public:
  static constexpr std::size_t kMaxInstances = 8;
  using Key = std::vector<std::uint32_t>;

  // The group of `key`, created on first use.
  Group& group(const Key& key) { return groups_[key]; }
  static bool full(const Group& group) { return group.instances.size() >= kMaxInstances; }
  static void add(Group& group, Instance instance);
  std::vector<Group> take();

 private:
  std::map<Key, Group> groups_;
};

class Analysis {
 public:
  virtual ~Analysis() = default;
  virtual std::vector<Group> propose(const AnalysisInput& input) = 0;
};

struct AnalysisRow {
  const char* name;
  const char* summary;
  std::unique_ptr<Analysis> (*make)();
  bool assuming;  // worth a second run under ReadRule::kUpdatesCarryData
};

// All analyses, in the order in which they are run. Defined in analyses/all.cc.
std::span<const AnalysisRow> all_analyses();

}  // namespace reweave

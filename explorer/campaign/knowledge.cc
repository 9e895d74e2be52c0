#include "explorer/campaign/knowledge.h"

#include <algorithm>
#include <iterator>

#include "explorer/campaign/sharing.h"

namespace reweave {

namespace {

// Below this number of choices, starting a run dominates its cost.
constexpr std::uint64_t kLongRun = 1'000;
constexpr std::size_t kMostPairsOfObject = 64;

bool is_memory(const ChoiceNote& note) {
  return kind_of(note) == OpKind::kAccess || kind_of(note) == OpKind::kAtomic || kind_of(note) == OpKind::kOther;
}

}  // namespace

void Knowledge::learn(const Observation& run) {
  choices_ = std::max<std::uint64_t>(choices_, run.size());
  threads_ = std::max(threads_, run.threads());
  for (std::size_t i = 0; i < run.size() && !saw_accesses_; i++)
    saw_accesses_ = kind_of(run[i]) == OpKind::kAccess || kind_of(run[i]) == OpKind::kAtomic;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < run.size(); i++)
    if (kind_of(run[i]) == OpKind::kAccess && run[i].pc != last) seen_.insert(last = run[i].pc);
  const std::vector<SharedObject> objects = shared_objects(run);
  std::map<std::vector<std::uint64_t>, Variable> seen;
  for (const SharedObject& object : objects) {
    if (!is_memory(run[object.operations.front()])) continue;
    std::set<std::uint64_t> sites;
    for (const std::size_t i : object.operations) sites.insert(run[i].pc);
    Variable& variable = seen[{sites.begin(), sites.end()}];
    variable.accesses += object.operations.size();
    variable.by_thread.resize(run.threads());
    for (const std::size_t i : object.operations) variable.by_thread[run[i].thread]++;
    learn_pairs(run, object);
    learn_releases(run, object);
  }
  for (auto& [sites, variable] : seen) {
    variable.sites = sites;
    add(std::move(variable));
  }
}

void Knowledge::add(Variable variable) {
  const auto [at, added] = known_.try_emplace(variable.sites, variables_.size());
  if (added)
    variables_.push_back(std::move(variable));
  else if (variable.accesses > variables_[at->second].accesses)
    variables_[at->second] = std::move(variable);
}

void Knowledge::add(const KnowledgeRecord& other) {
  choices_ = std::max(choices_, other.choices);
  threads_ = std::max(threads_, other.threads);
  saw_accesses_ = saw_accesses_ || other.saw_accesses;
  seen_.insert(other.seen.begin(), other.seen.end());
  for (const Variable& variable : other.variables) add(variable);
  for (const auto& [first, second, count] : other.pairs) {
    std::uint64_t& known = pairs_[{first, second}];
    known = std::max(known, count);
  }
  uses_of_released_.insert(other.uses_of_released.begin(), other.uses_of_released.end());
  told_ = pairs_.size();  // pairs learned by other campaigns are no news
}

KnowledgeRecord Knowledge::record() const {
  KnowledgeRecord all;
  all.choices = choices_;
  all.threads = threads_;
  all.saw_accesses = saw_accesses_;
  all.seen = {seen_.begin(), seen_.end()};
  all.variables = variables_;
  for (const auto& [sites, count] : pairs_) all.pairs.push_back({sites.first, sites.second, count});
  all.uses_of_released = {uses_of_released_.begin(), uses_of_released_.end()};
  return all;
}

std::shared_ptr<const QuietSites> Knowledge::quiet_sites(const std::vector<std::uint64_t>* but) const {
  if (choices_ < kLongRun) return nullptr;
  auto sites = std::make_shared<QuietSites>();
  sites->loud = but != nullptr ? *but : shared_sites();
  std::sort(sites->loud.begin(), sites->loud.end());
  std::set_difference(seen_.begin(), seen_.end(), sites->loud.begin(), sites->loud.end(),
                      std::back_inserter(sites->quiet));
  return sites;
}

void Knowledge::learn_pairs(const Observation& run, const SharedObject& object) {
  std::size_t found = 0;
  std::set<std::pair<ThreadId, std::uint64_t>> seen;
  std::vector<std::size_t> distinct;
  for (const std::size_t i : object.operations)
    if (seen.insert({run[i].thread, run[i].pc}).second) distinct.push_back(i);
  for (const std::size_t i : distinct)
    for (const std::size_t j : distinct)
      if (run[i].thread != run[j].thread && dependent(run[i], run[j]) && found++ < kMostPairsOfObject)
        pairs_[{run[i].pc, run[j].pc}]++;
}

void Knowledge::learn_releases(const Observation& run, const SharedObject& object) {
  // The threads and places that have touched the object so far. There are few, however long a run spins on it.
  std::set<std::pair<ThreadId, std::uint64_t>> uses;
  for (const std::size_t i : object.operations) {
    if (!is_release(run[i])) {
      uses.insert({run[i].thread, run[i].pc});
      continue;
    }
    for (const auto& [thread, pc] : uses)
      if (thread != run[i].thread) uses_of_released_.insert({run[i].pc, pc});
  }
}

std::vector<ActivePair> Knowledge::uses_of_released() const {
  std::vector<ActivePair> list;
  for (const auto& [release, use] : uses_of_released_) list.push_back({release, use});
  return list;
}

std::vector<std::uint64_t> Knowledge::shared_sites() const {
  std::set<std::uint64_t> sites;
  for (const Variable& variable : variables_) sites.insert(variable.sites.begin(), variable.sites.end());
  return {sites.begin(), sites.end()};
}

std::vector<ActivePair> Knowledge::pairs() const {
  std::vector<ActivePair> list;
  for (const auto& [sites, count] : pairs_) list.push_back({sites.first, sites.second});
  std::stable_sort(list.begin(), list.end(), [this](const ActivePair& a, const ActivePair& b) {
    return pairs_.at({a.first, a.second}) < pairs_.at({b.first, b.second});
  });
  return list;
}

}  // namespace reweave

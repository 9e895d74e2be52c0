#include "predictor/suspects/suspects.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "formats/base/error.h"
#include "formats/elf/debug_names.h"
#include "formats/elf/function_names.h"
#include "predictor/suspects/object_names.h"
#include "predictor/suspects/points_to.h"
#include "predictor/suspects/sharing.h"
#include "predictor/suspects/thread_walk.h"

namespace reweave {

namespace {

// An access to one object, by one kind of thread in one state.
struct Touch {
  std::uint64_t offset, end;
  std::uint32_t place;  // in the user's code
  bool reads, writes, atomic, frees;
  std::uint32_t kind, state;
  bool starts;                      // in a loop that starts threads
  std::uint32_t function, element;  // of an array: the node of its index; kNoNode: not known

  auto key() const {
    return std::tie(offset, end, place, reads, writes, atomic, frees, kind, state, starts, function, element);
  }
  bool operator<(const Touch& other) const { return key() < other.key(); }
};

struct PairFacts {
  SuspectSide sides[2];
  std::uint32_t object = 0;
  std::string name;  // of the member, if it is always the same
  bool is_suspected = false;
  std::optional<NoSuspicion> reason;
};

// An object that is used at more places than this is examined at the first ones only.
constexpr std::size_t kMostTouches = 4000;
// An access that may be to more objects than this says nothing.
constexpr std::size_t kMostTargets = 200;

class Finder {
 public:
  explicit Finder(const std::vector<std::string>& sections)
      : program_(linked(sections)),
        points_to_(program_),
        walk_(program_, points_to_),
        sharing_(program_, points_to_, walk_),
        elements_(program_) {}

  SuspectReport run() {
    collect();
    for (const auto& [object, touches] : touches_) examine(object, touches);
    return report();
  }

 private:
  static ProgramSummary linked(const std::vector<std::string>& sections) {
    ProgramSummary program = link_summaries(sections);
    const bool has_main = std::ranges::any_of(program.symbols, [](const SummarySymbol& symbol) {
      return symbol.name == "main" && symbol.function != kNoNode;
    });
    REQUIRE(has_main, "the program has no function main that was compiled by reweave-cc or reweave-c++");
    inline_small_functions(program);
    return program;
  }

  void collect();
  void examine(std::uint32_t object, const std::set<Touch>& touches);
  std::optional<NoSuspicion> no_suspicion(std::uint32_t object, const Touch& a, const Touch& b) const;
  bool are_beside(const Touch& a, const Touch& b) const;
  bool is_of_last_owner(std::uint32_t object, const Touch& touch) const;
  bool are_locked(std::uint32_t object, const Touch& a, const Touch& b) const;
  bool has_barrier_between(const Touch& a, const Touch& b) const;
  void add_side(SuspectSide& side, const Touch& touch, bool is_new) const;
  // The names of the locks that are held in the state.
  const std::set<std::string>& lock_names(std::uint32_t state) const;
  std::uint32_t number_of_place(std::uint32_t place, std::uint32_t caller);
  std::string name_of_kind(std::uint32_t kind) const { return thread_name(program_, points_to_, walk_.kinds()[kind]); }
  void add(const PairFacts& pair, SuspectReport& report) const;
  SuspectReport report();
  void rank(Suspect& suspect, std::uint32_t object) const;

  const ProgramSummary program_;
  const PointsTo points_to_;
  const ThreadWalk walk_;
  const Sharing sharing_;
  const Elements elements_;
  std::set<const SummaryStep*> start_steps_;
  std::map<std::uint32_t, std::set<Touch>> touches_;  // by object
  // By the object's name without its members, and the two places.
  std::map<std::string, std::map<std::pair<std::uint32_t, std::uint32_t>, PairFacts>> pairs_;
  mutable std::map<std::uint32_t, std::set<std::string>> lock_names_;                  // by state
  std::map<std::uint32_t, std::map<std::string, std::set<std::uint32_t>>> lock_uses_;  // by object, lock: places
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> user_places_;
  std::vector<SummaryPlace> places_;  // of the user's code
};

// The number of the place in the user's code. `caller`: of a library's function, as in WalkState.
std::uint32_t Finder::number_of_place(std::uint32_t place, std::uint32_t caller) {
  const std::optional<std::uint32_t> own = user_place(program_, place);
  const SummaryPlace& found = program_.places[own ? *own : caller != 0 ? caller - 1 : place];
  const auto [known, is_new] =
      user_places_.try_emplace({found.file, found.line, found.function}, static_cast<std::uint32_t>(places_.size()));
  if (is_new) {
    SummaryPlace named = found;
    named.function = short_name(demangle(found.function.c_str()));
    places_.push_back(named);
  }
  return known->second;
}

void Finder::collect() {
  for (const ThreadKind& kind : walk_.kinds()) start_steps_.insert(kind.start_loops.begin(), kind.start_loops.end());
  for (const AccessFact& fact : walk_.facts()) {
    const SummaryStep& step = *fact.step;
    const bool frees = step.op == SummaryOp::kCall;
    const Operand address = frees ? step.arguments.at(0) : fact.is_source ? step.second : step.first;
    const std::vector<CellId> cells = points_to_.targets(fact.function, address);
    if (cells.size() > kMostTargets) continue;
    const std::uint32_t element = elements_.index_of(fact.function, address).value_or(kNoNode);
    const std::uint32_t place = number_of_place(step.place, walk_.states()[fact.state].caller);
    const std::set<std::string>& locks = lock_names(fact.state);
    const bool is_store = step.op != SummaryOp::kLoad && !fact.is_source;
    for (const CellId id : cells) {
      const MemoryCell& cell = points_to_.cell(id);
      if (!sharing_.is_shared(cell.object)) continue;
      const std::uint64_t end =
          step.bytes == 0 ? UINT64_MAX : cell.offset + std::min(step.bytes, UINT64_MAX - cell.offset);
      if (frees && points_to_.objects()[cell.object].kind != MemoryObject::Kind::kHeap) continue;
      touches_[cell.object].insert({frees ? 0 : cell.offset, end, place, !is_store || (step.flags & kUpdateAccess) != 0,
                                    is_store, (step.flags & kAtomicAccess) != 0, frees, fact.kind, fact.state,
                                    start_steps_.contains(&step), fact.function, element});
      for (const std::string& lock : locks) lock_uses_[cell.object][lock].insert(place);
    }
  }
}

void Finder::examine(std::uint32_t object, const std::set<Touch>& all) {
  std::vector<Touch> touches(all.begin(), all.end());
  if (touches.size() > kMostTouches) touches.resize(kMostTouches);
  const std::string whole = object_name(program_, points_to_, object, std::nullopt);
  std::map<std::pair<std::uint32_t, std::uint32_t>, PairFacts>& pairs = pairs_[whole];
  std::map<std::uint64_t, std::string> names;  // by offset
  for (std::size_t i = 0; i < touches.size(); i++)
    for (std::size_t j = i; j < touches.size(); j++) {
      const Touch *a = &touches[i], *b = &touches[j];
      if (a->end <= b->offset || b->end <= a->offset || (!a->writes && !b->writes)) continue;
      if (b->place < a->place) std::swap(a, b);
      const std::uint64_t offset = std::max(a->offset, b->offset);
      const std::optional<NoSuspicion> reason = no_suspicion(object, *a, *b);
      PairFacts& pair = pairs[{a->place, b->place}];
      std::string& name = names[offset];
      if (name.empty()) name = object_name(program_, points_to_, object, offset);
      const bool is_other = pair.is_suspected && pair.name != name;
      pair.name = is_other ? whole : name;
      pair.object = object;
      if (reason && pair.is_suspected) continue;
      // A pair of places is suspected as soon as one way to reach it is; what is told is then of those ways only.
      const bool is_new = !reason && !pair.is_suspected;
      if (is_new) pair.sides[0] = {}, pair.sides[1] = {};
      if (reason) pair.reason = reason;
      pair.is_suspected = !reason;
      const bool is_first = is_new || pair.sides[0].threads.empty();
      add_side(pair.sides[0], *a, is_first);
      add_side(pair.sides[1], *b, is_first);
      if (a->place != b->place) continue;
      add_side(pair.sides[0], *b, false);  // the two sides of one place are the same
      add_side(pair.sides[1], *a, false);
    }
}

void Finder::add_side(SuspectSide& side, const Touch& touch, bool is_new) const {
  side.place = places_[touch.place];
  side.reads = side.reads || touch.reads;
  side.writes = side.writes || touch.writes;
  side.frees = side.frees || touch.frees;
  side.atomic = touch.atomic && (is_new || side.atomic);
  side.threads.insert(name_of_kind(touch.kind));
  const std::set<std::string>& locks = lock_names(touch.state);
  if (is_new)
    side.locks = locks;
  else
    std::erase_if(side.locks, [&](const std::string& lock) { return !locks.contains(lock); });
}

std::optional<NoSuspicion> Finder::no_suspicion(std::uint32_t object, const Touch& a, const Touch& b) const {
  if (a.atomic && b.atomic) return NoSuspicion::kAtomic;
  if (!is_user_file(places_[a.place].file) || !is_user_file(places_[b.place].file)) return NoSuspicion::kLibrary;
  if (!are_beside(a, b)) return NoSuspicion::kNotBeside;
  if (are_locked(object, a, b)) return NoSuspicion::kLocked;
  if (a.kind == b.kind && sharing_.is_own(a.kind, object)) return NoSuspicion::kOwnObject;
  // The starter prepares the object of the next thread.
  const auto prepares = [&](const Touch& touch, std::uint32_t kind) {
    return walk_.kinds()[kind].handed_over.contains(object) || (touch.starts && sharing_.is_own(kind, object));
  };
  if (a.kind != b.kind && (prepares(a, b.kind) || prepares(b, a.kind))) return NoSuspicion::kOwnObject;
  if (walk_.states()[a.state].in_once || walk_.states()[b.state].in_once) return NoSuspicion::kOnce;
  if (has_barrier_between(a, b)) return NoSuspicion::kBarrier;
  if (is_of_last_owner(object, a) || is_of_last_owner(object, b)) return NoSuspicion::kLastOwner;
  return std::nullopt;
}

bool Finder::is_of_last_owner(std::uint32_t object, const Touch& touch) const {
  const bool ends = touch.frees || places_[touch.place].function.find('~') != std::string::npos;
  return ends && walk_.states()[touch.state].counted.contains(object);
}

bool Finder::are_beside(const Touch& a, const Touch& b) const {
  const auto runs = [&](std::uint32_t state, std::uint32_t kind) {
    return std::ranges::any_of(walk_.states()[state].alive, [&](std::uint32_t alive) {
      return alive == kind || walk_.kinds()[alive].made.contains(kind);
    });
  };
  return walk_.kinds()[a.kind].beside.contains(b.kind) || runs(a.state, b.kind) || runs(b.state, a.kind);
}

// If it is not known which of several locks is held, it is taken for the one in the object that is used.
bool Finder::are_locked(std::uint32_t object, const Touch& a, const Touch& b) const {
  // A lock in an element of an array does not protect another element.
  const auto is_of_other = [](const PossibleLock& held, const Touch& touch) {
    return held.element && touch.element != kNoNode && held.element->first == touch.function &&
           held.element->second != touch.element;
  };
  const auto could_be = [&](const PossibleLock& held) {
    if (held.cells.size() == 1 && sharing_.is_shared(points_to_.cell(held.cells[0]).object)) return held;
    PossibleLock inside;
    for (const CellId cell : held.cells)
      if (points_to_.cell(cell).object == object) inside.cells.push_back(cell);
    return inside;
  };
  const auto is_same = [&](const PossibleLock& first, const PossibleLock& second) {
    return (first.variable && first.variable == second.variable) || could_be(first).may_be(could_be(second).cells);
  };
  for (const PossibleLock& first : walk_.states()[a.state].locks)
    for (const PossibleLock& second : walk_.states()[b.state].locks)
      if (!(first.shared && second.shared) && !is_of_other(first, a) && !is_of_other(second, b) &&
          is_same(first, second))
        return true;
  return false;
}

bool Finder::has_barrier_between(const Touch& a, const Touch& b) const {
  const std::set<std::uint32_t>&first = walk_.states()[a.state].barriers, &second = walk_.states()[b.state].barriers;
  const bool is_common = std::ranges::any_of(first, [&](std::uint32_t barrier) { return second.contains(barrier); });
  const bool are_comparable = a.kind == b.kind || (!first.contains(0) && !second.contains(0));
  return !is_common && are_comparable;
}

const std::set<std::string>& Finder::lock_names(std::uint32_t state) const {
  const auto [known, is_new] = lock_names_.try_emplace(state);
  std::set<std::string>& names = known->second;
  if (!is_new) return names;
  for (const PossibleLock& held : walk_.states()[state].locks) {
    const MemoryCell& cell = points_to_.cell(held.cells.front());
    names.insert(object_name(program_, points_to_, cell.object, cell.offset));
  }
  return names;
}

// A race is likely where most others take care: where a lock is held at other places, and not here.
void Finder::rank(Suspect& suspect, std::uint32_t object) const {
  const auto uses = lock_uses_.find(object);
  if (uses != lock_uses_.end())
    for (const auto& [lock, places] : uses->second) {
      const bool at_both = suspect.sides[0].locks.contains(lock) && suspect.sides[1].locks.contains(lock);
      if (at_both || places.size() <= suspect.usual) continue;
      suspect.usual_lock = lock;
      suspect.usual = static_cast<unsigned>(places.size());
    }
  suspect.score = suspect.usual > 0 ? 4 : 0;
  for (const SuspectSide& side : suspect.sides) {
    suspect.score += side.writes ? 1 : 0;
    suspect.score += side.reads && side.writes ? 0.5 : 0;  // an update
    suspect.score -= side.atomic ? 1 : 0;
  }
  if (points_to_.objects()[object].kind == MemoryObject::Kind::kVariable) suspect.score += 1;
}

void Finder::add(const PairFacts& pair, SuspectReport& report) const {
  if (!pair.is_suspected) {
    report.left_out.push_back({pair.name, {pair.sides[0], pair.sides[1]}, pair.reason.value()});
    return;
  }
  Suspect suspect;
  suspect.object = pair.name;
  for (int i = 0; i < 2; i++) suspect.sides[i] = pair.sides[i];
  rank(suspect, pair.object);
  report.suspects.push_back(std::move(suspect));
}

SuspectReport Finder::report() {
  SuspectReport report;
  report.modules = program_.modules;
  report.functions = program_.functions.size();
  std::set<std::pair<std::uint32_t, const SummaryStep*>> accesses;
  for (const AccessFact& fact : walk_.facts()) accesses.insert({fact.function, fact.step});
  report.accesses = accesses.size();
  report.merged_states = walk_.merged_states();
  for (std::uint32_t kind = 1; kind < walk_.kinds().size(); kind++) report.threads.push_back(name_of_kind(kind));
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, const PairFacts*> ordered;  // by places, then object
  for (const auto& [object, pairs] : pairs_)
    for (const auto& [places, pair] : pairs) ordered[{places.first, places.second, object}] = &pair;
  for (const auto& [key, pair] : ordered) add(*pair, report);
  std::ranges::stable_sort(report.suspects, std::ranges::greater{}, &Suspect::score);
  return report;
}

}  // namespace

const char* text_of(NoSuspicion reason) {
  static constexpr const char* kTexts[] = {
      "never at the same time: before the threads start, or after they have ended",
      "each thread has an object of its own",
      "a lock is held at both",
      "a barrier is between them",
      "one of them is made once, before all others",
      "both are atomic",
      "one of them is in a library, not called by the program's own code",
      "one of them releases the object, after an atomic update of it, as the last owner does",
  };
  static_assert(std::size(kTexts) == kNoSuspicions);
  return kTexts[static_cast<std::size_t>(reason)];
}

SuspectReport find_suspects(const std::vector<std::string>& sections) { return Finder(sections).run(); }

}  // namespace reweave

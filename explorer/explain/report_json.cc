#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "explorer/explain/context.h"
#include "explorer/explain/event_words.h"
#include "explorer/explain/remedies/remedy_words.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_sentences.h"
#include "explorer/explain/way/way_json.h"
#include "explorer/words/memory_stacks.h"
#include "explorer/words/wording.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

using nlohmann::json;

class JsonReport {
 public:
  JsonReport(const Explanation& explanation, Places& places) : explanation_(explanation), places_(places) {
    for (const Event& event : events_of(explanation.failing.observed)) failing_.emplace(event.name, event.choice);
    if (const auto step = inevitable_step(explanation)) failing_.insert(*step);
    const auto name = [&](std::initializer_list<const Event*> events) {
      for (const Event* event : events) named_.insert(event->name);
    };
    for (const LockWait& wait : explanation.deadlock) name({&wait.holds, &wait.wants});
    for (const Flip& flip : explanation.flips) {
      name({&flip.pair.first, &flip.pair.then});
      if (flip.block) name({&flip.block->begin, &flip.block->between, &flip.block->end});
    }
    for (const Remedy& remedy : explanation.remedies) {
      name({&remedy.begin, &remedy.end});
      if (remedy.other) name({&remedy.other->begin, &remedy.other->end});
    }
    if (explanation.together)
      for (const OrderSet::Member& member : explanation.together->members)
        name({&member.pair.first, &member.pair.then});
    name_variables();
  }

  json whole() {
    json report = {{"format", "reweave-explanation"},
                   {"version", 1},
                   {"outcome", explanation_.outcome},
                   {"failure", failure()},
                   {"last_words", explanation_.last_words},
                   {"cause_shown", explanation_.cause_is_shown()},
                   {"base", of(explanation_.base)},
                   {"reordered_pairs", explanation_.pairs},
                   {"runs", explanation_.runs},
                   {"out_of_time", explanation_.out_of_time},
                   {"notes", explanation_.notes}};
    report["failing"] = schedule(explanation_.failing);
    report["passing"] = explanation_.passing ? schedule(*explanation_.passing) : json();
    for (const char* list : {"deadlock", "flips", "curve", "patterns", "remedies"}) report[list] = json::array();
    report["deadlock"] = cycle_json();
    for (const Flip& flip : explanation_.flips) report["flips"].push_back(of(flip));
    report["together"] = explanation_.together ? of(*explanation_.together) : json();
    for (const CurvePoint& point : explanation_.curve)
      report["curve"].push_back({{"choice", point.choice}, {"rate", of(point.rate)}});
    const std::optional<std::size_t> inevitable = explanation_.inevitable();
    report["inevitable"] = inevitable ? json(*inevitable) : json();
    report["inevitable_step"] = inevitable_json();
    report["value_way"] = way_json(explanation_.way, places_);
    report["cause"] = cause_sentences(report);
    for (const RankedPattern& pattern : explanation_.patterns) report["patterns"].push_back(of(pattern));
    for (const Remedy& remedy : explanation_.remedies) report["remedies"].push_back(of(remedy));
    return report;
  }

 private:
  static constexpr std::size_t kNoChoice = SIZE_MAX;

  static json of(const Rate& rate) {
    const Interval interval = interval_of(rate);
    return {{"tried", rate.tried},   {"failed", rate.failed}, {"other", rate.other},  {"passed", rate.passed()},
            {"let_go", rate.let_go}, {"low", interval.low},   {"high", interval.high}};
  }

  // `choice`: the operation's choice if it is in the failing run. `call`: the call in the user's code if a library
  // executes the operation; 0 otherwise.
  json of(const ChoiceNote& note, std::size_t choice = kNoChoice, std::uint64_t call = 0) {
    json step = {{"thread", note.thread}, {"does", verb_of(note)}, {"object", object_of(note, choice)}};
    json code = place_of(note.pc);
    if (const unsigned operation = operations_.number_of(note.pc); operation != 0) code["operation"] = operation;
    step.update(call == 0 ? code : place_of(call));
    if (call != 0) step["inside"] = std::move(code);
    return step;
  }

  json place_of(std::uint64_t pc) {
    if (pc == 0) return {{"place", ""}};
    json place = {{"place", places_.code(pc)}};
    const SourceFrame* source = places_.source(pc);
    if (source == nullptr || source->file.empty()) return place;
    place["function"] = source->function;
    place["file"] = source->file;
    place["line"] = source->line;
    place["source"] = places_.source_line(pc);
    return place;
  }

  // The object's name. A variable's name is used only between the first and the last named event of the object, because
  // the address may hold another object at other times.
  std::string object_of(const ChoiceNote& note, std::size_t choice) {
    const std::string text = object_text(note, places_);
    const auto found = variables_.find(note.object);
    if (text.empty() || found == variables_.end()) return text;
    const Named& variable = found->second;
    if (choice < variable.first || choice > variable.last) return text;
    return is_release(note) ? released_words(variable.name) : variable.name;
  }
  // The name of a whole released block from the name of its first part: "*job" for "job->id", "list" for "list[0]".
  static std::string released_words(const std::string& part) {
    const std::size_t arrow = part.rfind("->"), bracket = part.rfind('[');
    if (arrow != part.npos) return "*" + part.substr(0, arrow);
    return part.substr(0, bracket);
  }

  // Chooses one name for each object, because threads may know it by different variables. Names that begin with a
  // variable are preferred to names of members ("Pool::jobs"). An address that held different objects gets no name.
  void name_variables() {
    std::set<std::uint64_t> several;
    for (const auto& [event, object] : events_named(explanation_)) {
      const auto found = explanation_.contexts.find(event);
      if (found == explanation_.contexts.end() || found->second.variable.empty()) continue;
      const EventContext& context = found->second;
      const auto [at, added] = variables_.emplace(object, Named{context.variable, context.block});
      Named& known = at->second;
      if (added) continue;
      const bool was_member = is_member(known.name);
      const bool on_heap = known.block || context.block;
      if (known.block && context.block && known.block->allocated != context.block->allocated) several.insert(object);
      if (!on_heap && known.name != context.variable && !was_member && !is_member(context.variable))
        several.insert(object);
      if (was_member) known.name = context.variable;
      if (!known.block) known.block = context.block;
    }
    for (const std::uint64_t object : several) variables_.erase(object);
    unite_objects();
  }
  // Gives all named events of an object one name and one block, even events for which neither was found, such as a lock
  // whose wait never ends.
  void unite_objects() {
    for (const auto& [event, object] : events_named(explanation_)) {
      const std::size_t choice = choice_of(event);
      if (const auto variable = variables_.find(object); variable != variables_.end()) {
        variable->second.first = std::min(variable->second.first, choice);
        variable->second.last = std::max(variable->second.last, choice);
      }
      const auto context = explanation_.contexts.find(event);
      if (context != explanation_.contexts.end() && context->second.block)
        blocks_.emplace(object, *context->second.block);
    }
  }
  // The event's choice in the failing run. A named event that the run did not reach comes after all others.
  std::size_t choice_of(const Arrival& event) const {
    const auto found = failing_.find(event);
    if (found != failing_.end()) return found->second;
    return named_.contains(event) ? kNoChoice - 1 : kNoChoice;
  }

  std::string failure() {
    std::map<std::uint64_t, std::string> names;
    for (const auto& [address, variable] : variables_) names.emplace(address, variable.name);
    const auto error = memory_error_of(explanation_.outcome);
    if (error && !explanation_.block.empty()) {
      std::string& name = names[error->address];
      name += (name.empty() ? "" : " in ") + explanation_.block;
    }
    std::string text = readable_outcome(explanation_.outcome, places_, names);
    if (const std::string& recorded = explanation_.recorded_outcome; !recorded.empty())
      text += fmt::format("\n  the recording went on, because recording does not check the heap, and ended so: {}",
                          readable_outcome(recorded, places_, names));
    return text;
  }

  json inevitable_json() {
    const auto step = inevitable_step(explanation_);
    if (!step) return {};
    const auto& [name, choice] = *step;
    json told = of(explanation_.failing.observed[choice], choice, user_call(explanation_, name, places_));
    told["address"] = name.pc;
    told["number"] = name.number;
    return told;
  }

  json of(const Event& event) {
    json step = of(event.note, choice_of(event.name), user_call(explanation_, event.name, places_));
    step["number"] = event.name.number;
    step["choice"] = event.choice;
    return step;
  }

  // The statement that executes the event.
  std::string statement_of(const Event& event) {
    const std::uint64_t call = user_call(explanation_, event.name, places_);
    return places_.code(call == 0 ? event.name.pc : call);
  }
  // The events of the cause that the same statement executes on other objects.
  std::vector<Event> alike(const Event& event) {
    if (event.note.object == 0) return {};
    std::vector<Event> events = cause_events();
    std::erase_if(events, [&](const Event& other) {
      return other.note.object == 0 || other.note.object == event.note.object ||
             statement_of(other) != statement_of(event);
    });
    return events;
  }
  std::vector<Event> cause_events() const {
    std::vector<Event> events;
    for (const LockWait& wait : explanation_.deadlock) events.insert(events.end(), {wait.holds, wait.wants});
    if (explanation_.together)
      for (const OrderSet::Member& member : explanation_.together->members)
        events.insert(events.end(), {member.pair.first, member.pair.then});
    else if (!explanation_.flips.empty())
      events.insert(events.end(), {explanation_.flips.front().pair.first, explanation_.flips.front().pair.then});
    return events;
  }

  // An event that a flip, a deadlock or a remedy names; the failing run may not have reached it.
  json named(const Event& event) {
    json step = of(event);
    name_block(step, event.note);
    std::string caller = caller_words(explanation_, event, places_);
    if (caller.empty()) caller = distinguishing_callers(explanation_, event, alike(event), places_);
    if (!caller.empty()) step["called_by"] = caller;
    if (!failing_.contains(event.name)) step["not_reached"] = true;
    if (!event.locks.empty()) step["locked_at"] = of(event.locks.front());
    return step;
  }
  json of(const TakenLock& lock) {
    ChoiceNote taken = {};
    taken.kind = static_cast<std::uint8_t>(OpKind::kLock);
    taken.thread = lock.taken.thread;
    taken.pc = lock.taken.pc;
    taken.object = lock.object;
    json step = of(taken, lock.choice, user_call(explanation_, lock.taken, places_));
    name_block(step, taken);
    step["number"] = lock.taken.number;
    return step;
  }
  // Names a heap block as the object of the step if the object has no other name.
  void name_block(json& step, const ChoiceNote& note) {
    const auto block = blocks_.find(note.object);
    if (block == blocks_.end() || step.at("object") != object_text(note, places_)) return;
    step["object"] = block_words(block->second, note.object, places_);
    step["in_block"] = true;
  }

  json of(const Flip& flip) {
    json row = {{"first", named(flip.pair.first)}, {"then", named(flip.pair.then)}, {"reversed", of(flip.reversed)},
                {"forced", of(flip.forced)},       {"avoided", of(flip.avoided)},   {"necessary", flip.is_necessary()}};
    if (flip.block_tells)
      row["block"] = {{"begin", named(flip.block->begin)},
                      {"between", named(flip.block->between)},
                      {"end", named(flip.block->end)}};
    return row;
  }

  json of(const OrderSet& set) {
    json orders = json::array();
    for (const OrderSet::Member& member : set.members)
      orders.push_back(
          {{"first", named(member.pair.first)}, {"then", named(member.pair.then)}, {"broken", of(member.broken)}});
    return {{"orders", orders}, {"forced", of(set.forced)}};
  }

  json of(const Remedy& remedy) {
    const bool is_wait =
        remedy.advice == Advice::kWait || remedy.advice == Advice::kWaitForAll || remedy.advice == Advice::kWaitForUse;
    json row = code_json({remedy.begin, remedy.end});
    if (remedy.advice != Advice::kHoldOver) row.erase("lines");
    row["kind"] = is_wait ? "order" : "uninterrupted";
    row["advice"] = name_of(remedy.advice);
    row["assume"] = assumption_text(remedy.code);
    row["rate"] = of(remedy.rate);
    if (remedy.near.tried != 0) row["near"] = {{"with", of(remedy.near)}, {"without", of(explanation_.near())}};
    row["for_both"] = remedy.other && remedy.other->begin.note.object != remedy.other->end.note.object;
    if (remedy.other) row["other"] = code_json(*remedy.other);
    if (remedy.advice == Advice::kLockOrder) row["cycle"] = cycle_json();
    if (const json lock = lock_of(remedy); !lock.is_null()) row["lock"] = lock;
    const bool is_by_object = remedy.advice == Advice::kHoldOver && remedy.code.rivals.empty();
    if (is_by_object && kind_of(remedy.begin.note) != OpKind::kLock) row["uses_of"] = row["begin"]["object"];
    if (remedy.advice == Advice::kWaitForUse) add_caller(row["begin"], remedy.begin);
    row["text"] = remedy_sentence(row);
    return row;
  }
  json code_json(const ThreadCode& code) {
    json row = {{"begin", named(code.begin)}, {"end", named(code.end)}};
    if (const std::optional<LineRange> lines = common_lines(explanation_, code.begin.name, code.end.name, places_))
      row["lines"] = {
          {"function", lines->function}, {"file", lines->file}, {"first", lines->first}, {"last", lines->last}};
    return row;
  }
  json cycle_json() {
    json waits = json::array();
    for (const LockWait& wait : explanation_.deadlock)
      waits.push_back({{"holds", named(wait.holds)}, {"wants", named(wait.wants)}});
    return waits;
  }
  // Many functions may use an object in the same member function, so the caller tells more.
  void add_caller(json& step, const Event& event) {
    if (step.contains("called_by")) return;
    const std::string caller = caller_in_user_code(explanation_, event.name, places_);
    if (!caller.empty()) step["called_by"] = caller;
  }
  // The lock to hold, where a thread takes it in the failing run. Null if the remedy's events are under several locks
  // or none.
  json lock_of(const Remedy& remedy) {
    if (remedy.advice != Advice::kHoldOver && remedy.advice != Advice::kHoldAround) return {};
    if (kind_of(remedy.begin.note) == OpKind::kLock && remedy.begin.note.object == remedy.end.note.object)
      return of(TakenLock{remedy.begin.note.object, remedy.begin.name, remedy.begin.choice});
    if (remedy.advice == Advice::kHoldAround) return of(remedy.begin.locks.front());
    std::map<std::uint64_t, TakenLock> locks;
    for (const Event* event : {&remedy.begin, &remedy.end, &remedy.other->begin, &remedy.other->end})
      for (const TakenLock& lock : event->locks) locks.emplace(lock.object, lock);
    return locks.size() == 1 ? of(locks.begin()->second) : json();
  }
  // The assumption in the syntax of `explore --assume`; empty if no name leads back to the same code.
  std::string assumption_text(const AssumedCode& code) {
    if (code == AssumedCode()) return "";
    try {
      const std::string text = text_of(assumption_of(code, operations_));
      return code_of(parse_assumption(text), operations_) == code ? text : "";
    } catch (const BadInput&) {
      return "";  // the code is in no file
    }
  }

  json of(const RankedPattern& pattern) {
    json row = {{"failed", pattern.failed},  {"of_failed", pattern.of_failed},
                {"passed", pattern.passed},  {"suspiciousness", pattern.suspiciousness},
                {"best_rank", pattern.best}, {"worst_rank", pattern.worst},
                {"accesses", json::array()}};
    for (const ChoiceNote& note : pattern.accesses) row["accesses"].push_back(of(note));
    return row;
  }

  // The schedule with the events that conflict with another thread's and those that the rest of the report names. Other
  // events are only counted.
  json schedule(const RunResult& run) {
    constexpr std::size_t kMostSteps = 10'000;
    const std::vector<Event> events = events_of(run.observed);
    std::set<std::size_t> shown;
    for (const auto& [object, list] : by_object(events))
      for (const std::size_t i : list)
        if (std::ranges::any_of(list, [&](std::size_t k) { return conflict(events[i], events[k]); })) shown.insert(i);
    for (std::size_t i = 0; i < events.size(); i++)
      if (named_.contains(events[i].name)) shown.insert(i);
    json steps = json::array();
    for (const std::size_t i : shown) {
      if (steps.size() == kMostSteps) break;
      steps.push_back(of(events[i]));
    }
    return {{"choices", run.observed.size()},           {"events", events.size()},
            {"left_out", events.size() - steps.size()}, {"truncated", run.observed.truncated()},
            {"outcome", describe_outcome(run)},         {"steps", steps}};
  }

  static std::map<std::uint64_t, std::vector<std::size_t>> by_object(const std::vector<Event>& events) {
    constexpr std::size_t kMostOfObject = 500;  // the time of schedule() grows with its square
    std::map<std::uint64_t, std::vector<std::size_t>> lists;
    for (std::size_t i = 0; i < events.size(); i++) {
      std::vector<std::size_t>& list = lists[events[i].note.object];
      if (list.size() < kMostOfObject) list.push_back(i);
    }
    return lists;
  }

  const Explanation& explanation_;
  Places& places_;
  CodeOperations operations_{places_};
  struct Named {
    std::string name;
    std::optional<HeapBlock> block;
    std::size_t first = kNoChoice, last = 0;  // choices of the first and last named event
  };
  static bool is_member(const std::string& name) { return name.find("::") != std::string::npos; }
  std::map<std::uint64_t, Named> variables_;   // by address
  std::map<std::uint64_t, HeapBlock> blocks_;  // by the address of what is in them
  std::map<Arrival, std::size_t> failing_;     // events of the failing run, and their choices
  std::set<Arrival> named_;                    // events that parts of the report other than the schedules name
};

}  // namespace

json json_report(const Explanation& explanation, Places& places) { return JsonReport(explanation, places).whole(); }

}  // namespace reweave

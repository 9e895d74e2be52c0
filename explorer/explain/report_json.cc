#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "explorer/explain/event_words.h"
#include "explorer/explain/report.h"
#include "explorer/wording.h"

namespace reweave {

namespace {

using nlohmann::json;

class JsonReport {
 public:
  JsonReport(const Explanation& explanation, Places& places) : explanation_(explanation), places_(places) {
    for (const Event& event : events_of(explanation.failing.observed)) failing_.insert(event.name);
    const auto name = [&](std::initializer_list<const Event*> events) {
      for (const Event* event : events) named_.insert(event->name);
    };
    for (const LockWait& wait : explanation.deadlock) name({&wait.holds, &wait.wants});
    for (const Flip& flip : explanation.flips) {
      name({&flip.pair.first, &flip.pair.then});
      if (flip.block) name({&flip.block->begin, &flip.block->between, &flip.block->end});
    }
    for (const Remedy& remedy : explanation.remedies) name({&remedy.begin, &remedy.end});
  }

  json whole() {
    json report = {{"format", "reweave-explanation"},
                   {"version", 1},
                   {"outcome", explanation_.outcome},
                   {"last_words", explanation_.last_words},
                   {"cause", cause_text(explanation_, places_)},
                   {"base", of(explanation_.base)},
                   {"reordered_pairs", explanation_.pairs},
                   {"runs", explanation_.runs},
                   {"out_of_time", explanation_.out_of_time},
                   {"notes", explanation_.notes}};
    report["failing"] = schedule(explanation_.failing);
    report["passing"] = explanation_.passing ? schedule(*explanation_.passing) : json();
    for (const char* list : {"deadlock", "flips", "curve", "patterns", "remedies"}) report[list] = json::array();
    for (const LockWait& wait : explanation_.deadlock)
      report["deadlock"].push_back({{"holds", named(wait.holds)}, {"wants", named(wait.wants)}});
    for (const Flip& flip : explanation_.flips) report["flips"].push_back(of(flip));
    for (const CurvePoint& point : explanation_.curve)
      report["curve"].push_back({{"choice", point.choice}, {"rate", of(point.rate)}});
    const std::optional<std::size_t> inevitable = explanation_.inevitable();
    report["inevitable"] = inevitable ? json(*inevitable) : json();
    report["inevitable_step"] = inevitable_step(inevitable);
    for (const RankedPattern& pattern : explanation_.patterns) report["patterns"].push_back(of(pattern));
    for (const Remedy& remedy : explanation_.remedies)
      report["remedies"].push_back({{"kind", remedy.is_region ? "uninterrupted" : "order"},
                                    {"begin", named(remedy.begin)},
                                    {"end", named(remedy.end)},
                                    {"text", remedy_phrase(explanation_, remedy, places_)},
                                    {"rate", of(remedy.rate)}});
    return report;
  }

 private:
  static json of(const Rate& rate) {
    const Interval interval = interval_of(rate);
    return {{"tried", rate.tried},   {"failed", rate.failed}, {"other", rate.other},  {"passed", rate.passed()},
            {"let_go", rate.let_go}, {"low", interval.low},   {"high", interval.high}};
  }

  json of(const ChoiceNote& note) {
    json step = {{"thread", note.thread},
                 {"does", verb_of(note)},
                 {"object", object_text(note, places_)},
                 {"place", note.pc == 0 ? "" : places_.code(note.pc)}};
    const SourceFrame* source = note.pc == 0 ? nullptr : places_.source(note.pc);
    if (source == nullptr || source->file.empty()) return step;
    step["function"] = source->function;
    step["file"] = source->file;
    step["line"] = source->line;
    step["source"] = places_.source_line(note.pc);
    return step;
  }

  // The last step that was followed where the failure became inevitable.
  json inevitable_step(const std::optional<std::size_t>& inevitable) {
    const Observation& run = explanation_.failing.observed;
    if (!inevitable || run.empty()) return {};
    const std::size_t followed = std::min(explanation_.curve[*inevitable].choice, run.size());
    return followed == 0 ? json() : of(run[followed - 1]);
  }

  json of(const Event& event) {
    json step = of(event.note);
    step["number"] = event.name.number;
    step["choice"] = event.choice;
    return step;
  }

  // A step of the failing run that something else names; or one that it did not come to.
  json named(const Event& event) {
    json step = of(event);
    step["object"] = object_words(explanation_, event, places_);
    if (uses_block(explanation_, event)) step["in_block"] = true;
    if (const std::string caller = caller_words(explanation_, event, places_); !caller.empty())
      step["called_by"] = caller;
    if (!failing_.contains(event.name)) step["not_reached"] = true;
    return step;
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

  json of(const RankedPattern& pattern) {
    json row = {{"failed", pattern.failed},  {"of_failed", pattern.of_failed},
                {"passed", pattern.passed},  {"suspiciousness", pattern.suspiciousness},
                {"best_rank", pattern.best}, {"worst_rank", pattern.worst},
                {"accesses", json::array()}};
    for (const ChoiceNote& note : pattern.accesses) row["accesses"].push_back(of(note));
    return row;
  }

  // The events that conflict with one of another thread, and those that the rest of the report names. Others are
  // counted.
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
    constexpr std::size_t kMostOfObject = 500;  // quadratic above
    std::map<std::uint64_t, std::vector<std::size_t>> lists;
    for (std::size_t i = 0; i < events.size(); i++) {
      std::vector<std::size_t>& list = lists[events[i].note.object];
      if (list.size() < kMostOfObject) list.push_back(i);
    }
    return lists;
  }

  const Explanation& explanation_;
  Places& places_;
  std::set<Arrival> failing_, named_;  // events of the failing run; those that are not only in a schedule
};

}  // namespace

json json_report(const Explanation& explanation, Places& places) { return JsonReport(explanation, places).whole(); }

}  // namespace reweave

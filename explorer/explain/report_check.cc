#include "explorer/explain/report_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "explorer/campaign/assumption.h"
#include "explorer/explain/rate.h"
#include "explorer/explain/remedies/remedy_words.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_sentences.h"
#include "explorer/explain/report_steps.h"
#include "explorer/explain/way/way_json.h"
#include "explorer/words/memory_stacks.h"
#include "formats/base/error.h"

namespace reweave {

using nlohmann::json;

namespace {

// A statement that does not hold; thrown by the checks and caught by check_report.
struct Unborne {
  std::string statement;
};

template <typename... Args>
void demand(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw Unborne{fmt::format(format, std::forward<Args>(args)...)};
}

bool near(const json& value, double expected) { return std::abs(value.get<double>() - expected) <= 1e-9; }

std::uint64_t checked_count(const json& value, const std::string& what) {
  demand(value.is_number_unsigned() || (value.is_number_integer() && value >= 0), "{}: {} is no count", what,
         value.dump());
  return value.get<std::uint64_t>();
}

class ReportCheck {
 public:
  explicit ReportCheck(const json& report) : report_(report) {}

  void all() {
    demand(report_.at("format") == "reweave-explanation" && report_.at("version") == 1, "format: another one");
    rate(report_.at("base"), "base");
    for (const char* name : {"failing", "passing"})
      if (!report_.at(name).is_null()) schedule(report_.at(name), name);
    for (std::size_t i = 0; i < report_.at("deadlock").size(); i++) wait(i);
    for (std::size_t i = 0; i < report_.at("flips").size(); i++)
      flip(report_.at("flips")[i], fmt::format("flips {}", i));
    together();
    curve();
    patterns();
    for (std::size_t i = 0; i < report_.at("remedies").size(); i++) remedy(i);
    cause();
    if (report_.contains("value_way")) {  // older reports have none
      const std::string wrong = wrong_in_way(report_.at("value_way"));
      demand(wrong.empty(), "{}", wrong);
    }
    demand(checked_count(report_.at("reordered_pairs"), "reordered_pairs") > 0 || report_.at("flips").empty(),
           "reordered_pairs: none, but there are flips");
    demand(checked_count(report_.at("runs"), "runs") >= runs_,
           "runs: the rates add up to {}, which is more than the total", runs_);
  }

 private:
  void rate(const json& rate, const std::string& what) {
    const std::uint64_t tried = checked_count(rate.at("tried"), what), failed = checked_count(rate.at("failed"), what),
                        other = checked_count(rate.at("other"), what), passed = checked_count(rate.at("passed"), what);
    demand(tried == failed + other + passed, "{}: {} runs are not {} + {} + {}", what, tried, failed, other, passed);
    const Interval interval = interval_of({tried, failed, other, 0});
    demand(near(rate.at("low"), interval.low) && near(rate.at("high"), interval.high),
           "{}: {} of {} has another interval", what, failed, tried);
    runs_ += tried + checked_count(rate.at("let_go"), what);
  }

  // Checks that a step's `place` agrees with its function, file and line.
  static void step(const json& step, const std::string& what) {
    checked_count(step.at("thread"), what);
    if (step.contains("file"))
      demand(step.at("place") == place_sentence(step), "{}: the place does not match the file and line", what);
    if (step.contains("inside") && step.at("inside").contains("file"))
      demand(step.at("inside").at("place") == place_sentence(step.at("inside")),
             "{}: the place inside is not that of file and line", what);
  }

  // True if `event` is the step `shown`, apart from the caller, the lock and the object's block that `event` may add.
  static bool is_shown(const json& shown, json event) {
    if (event.value("in_block", false)) event["object"] = shown.at("object");
    event.erase("in_block");
    event.erase("called_by");
    event.erase("locked_at");
    return shown == event;
  }

  // Checks an event of the failing run: the failing schedule must show the same step, unless the run did not reach it.
  void failing_step(const json& event, const std::string& what) const {
    constexpr std::size_t kMostSteps = 10'000;
    step(event, what);
    demand(checked_count(event.at("number"), what) > 0, "{}: the thread was never there", what);
    const json &run = report_.at("failing"), &steps = run.at("steps");
    const std::uint64_t choice = checked_count(event.at("choice"), what);
    demand(choice <= run.at("choices"), "{}: after the end of the run", what);
    if (event.contains("locked_at")) lock_before(event, what);
    const json* shown = step_at(choice);
    if (event.value("not_reached", false))
      demand(steps.empty() || event.at("choice") > steps.back().at("choice"), "{}: not after the last step", what);
    else
      demand(shown == nullptr ? steps.size() >= kMostSteps : is_shown(*shown, event),
             "{}: does not match that step of the schedule", what);
  }
  // The step that the failing schedule shows for the choice; null if there is none.
  const json* step_at(std::uint64_t choice) const {
    const json& steps = report_.at("failing").at("steps");
    const auto found = std::ranges::find_if(steps, [&](const json& one) { return one.at("choice") == choice; });
    return found == steps.end() ? nullptr : &*found;
  }

  void schedule(const json& run, const std::string& what) {
    const json& steps = run.at("steps");
    demand(checked_count(run.at("events"), what) == steps.size() + checked_count(run.at("left_out"), what),
           "{}: the number of events is not the number shown plus the number left out", what);
    demand(checked_count(run.at("choices"), what) >= run.at("events"), "{}: fewer choices than events", what);
    std::optional<std::uint64_t> before;
    for (const json& one : steps) {
      step(one, what);
      demand(checked_count(one.at("number"), what) > 0, "{}: the thread was never there", what);
      const std::uint64_t choice = checked_count(one.at("choice"), what);
      demand(!before || choice > *before, "{}: the steps are not in order at choice {}", what, choice);
      before = choice;
    }
    demand(!before || *before < run.at("choices"), "{}: a step after the last choice", what);
  }

  void wait(std::size_t i) {
    const json &list = report_.at("deadlock"), &next = list[(i + 1) % list.size()];
    const std::string what = fmt::format("deadlock {}", i);
    failing_step(list[i].at("holds"), what);
    failing_step(list[i].at("wants"), what);
    demand(list[i].at("holds").at("thread") == list[i].at("wants").at("thread"), "{}: of two threads", what);
    demand(list[i].at("wants").at("object") == next.at("holds").at("object"), "{}: the cycle is not closed", what);
  }

  static Rate counted(const json& rate) {
    return {rate.at("tried").get<std::uint64_t>(), rate.at("failed").get<std::uint64_t>()};
  }
  void cause() const {
    bool shown = false;
    if (const json& flips = report_.at("flips"); !flips.empty()) {
      const bool always = counted(flips[0].at("reversed")).always();
      const bool differs = !always && makes_fail(counted(flips[0].at("forced")), counted(flips[0].at("avoided")),
                                                 counted(report_.at("base")));
      const bool is_release = flips[0].at("first").at("does") == "frees" &&
                              !flips[0].at("then").value("not_reached", false) &&
                              memory_error_of(report_.at("outcome").get<std::string>()).has_value() && !always;
      shown = differs || is_release;
    }
    shown = shown || !orders_together(report_).empty();
    demand(report_.at("cause_shown") == shown, "cause_shown: does not follow from the experiments");
    demand(report_.at("cause") == cause_sentences(report_), "cause: not what the first flip says");
  }

  void together() {
    const json together = report_.value("together", json());  // older reports have none
    if (together.is_null()) return;
    const json& orders = together.at("orders");
    rate(together.at("forced"), "together forced");
    const Rate forced = counted(together.at("forced"));
    demand(orders.size() > 1, "together: fewer than two orders");
    demand(fails_more(forced, counted(report_.at("base"))), "together: not shown to make the failure");
    for (std::size_t i = 0; i < orders.size(); i++) {
      const std::string what = fmt::format("together {}", i);
      pair(orders[i], what);
      rate(orders[i].at("broken"), what + " broken");
      const Rate broken = counted(orders[i].at("broken"));
      demand(broken.tried == 0 || fails_more(forced, broken), "{}: not shown to be needed", what);
    }
  }

  void pair(const json& pair, const std::string& what) const {
    for (const char* name : {"first", "then"}) failing_step(pair.at(name), what);
    demand(pair.at("first").at("choice") < pair.at("then").at("choice"), "{}: not in this order", what);
    demand(pair.at("first").at("thread") != pair.at("then").at("thread"), "{}: of one thread", what);
  }

  void flip(const json& flip, const std::string& what) {
    pair(flip, what);
    for (const char* name : {"reversed", "forced", "avoided"}) rate(flip.at(name), what + " " + name);
    const json& reversed = flip.at("reversed");
    demand(flip.at("necessary") == (reversed.at("tried") > 0 && reversed.at("failed") == 0),
           "{}: necessary does not follow from {} of {}", what, reversed.at("failed").dump(),
           reversed.at("tried").dump());
    if (!flip.contains("block")) return;
    const json& block = flip.at("block");
    for (const char* name : {"begin", "between", "end"}) failing_step(block.at(name), what + " block");
    demand(block.at("begin").at("thread") == block.at("end").at("thread") &&
               block.at("begin").at("thread") != block.at("between").at("thread"),
           "{}: no block of one thread that another breaks", what);
  }

  void curve() {
    const json& curve = report_.at("curve");
    std::size_t inevitable = 0;
    for (std::size_t i = 0; i < curve.size(); i++) {
      const json& share = curve[i].at("rate");
      rate(share, fmt::format("curve {}", i));
      const std::uint64_t choice = checked_count(curve[i].at("choice"), "curve");
      demand(choice <= report_.at("failing").at("choices"), "curve {}: after the end of the run", i);
      demand(i == 0 ? choice == 0 : choice > curve[i - 1].at("choice"), "curve {}: not in order", i);
      if (share.at("tried") == 0 || share.at("failed") != share.at("tried")) inevitable = i + 1;
    }
    const json expected = inevitable < curve.size() ? json(inevitable) : json();
    demand(report_.at("inevitable") == expected, "inevitable: by the curve it is {}", expected.dump());
    moment();
  }

  void moment() {
    const json &inevitable = report_.at("inevitable"), &step_there = report_.at("inevitable_step");
    if (step_there.is_null()) return;
    step(step_there, "inevitable_step");
    demand(!inevitable.is_null(), "inevitable_step: nothing is inevitable");
    demand(checked_count(step_there.value("number", json(1u)), "inevitable_step") > 0,
           "inevitable_step: the thread was never there");
    const auto followed = report_.at("curve").at(inevitable.get<std::size_t>()).at("choice").get<std::uint64_t>();
    const json* shown = followed == 0 ? nullptr : step_at(followed - 1);
    for (const char* member : {"thread", "place", "number"})
      demand(shown == nullptr || !step_there.contains(member) || shown->at(member) == step_there.at(member),
             "inevitable_step: not the step before choice {}", followed);
  }

  // Checks each pattern's suspiciousness and its rank among the listed ones. The list may be cut among the patterns
  // that tie with the last one.
  void patterns() {
    const json &patterns = report_.at("patterns"), &base = report_.at("base");
    for (std::size_t i = 0; i < patterns.size(); i++) {
      const std::string what = fmt::format("patterns {}", i);
      const json& pattern = patterns[i];
      const std::uint64_t with = checked_count(pattern.at("failed"), what),
                          passed = checked_count(pattern.at("passed"), what),
                          failed = checked_count(pattern.at("of_failed"), what);
      demand(with > 0 && with <= failed && passed <= base.at("passed"), "{}: in more runs than there were", what);
      demand(failed <= base.at("failed").get<std::uint64_t>() + 1, "{}: counts more failing runs than there were",
             what);
      demand(near(pattern.at("suspiciousness"), static_cast<double>(with) / static_cast<double>(failed + passed)),
             "{}: the suspiciousness is another", what);
      demand(i == 0 || pattern.at("suspiciousness") <= patterns[i - 1].at("suspiciousness"), "{}: not in order", what);
      for (const json& access : pattern.at("accesses")) step(access, what);
      rank(patterns, i, what);
    }
  }
  static void rank(const json& patterns, std::size_t i, const std::string& what) {
    const auto ties = [&](std::size_t k) {
      return near(patterns[k].at("suspiciousness"), patterns[i].at("suspiciousness"));
    };
    std::size_t best = i, worst = i;
    while (best > 0 && ties(best - 1)) best--;
    while (worst + 1 < patterns.size() && ties(worst + 1)) worst++;
    const std::uint64_t stated = checked_count(patterns[i].at("worst_rank"), what);
    const bool is_cut = worst + 1 == patterns.size();
    demand(patterns[i].at("best_rank") == best + 1, "{}: the best rank is {}", what, best + 1);
    demand(is_cut ? stated >= worst + 1 : stated == worst + 1, "{}: the worst rank is {}", what, worst + 1);
    demand(stated == patterns[worst].at("worst_rank"), "{}: patterns that tie have the same ranks", what);
  }

  void remedy(std::size_t i) {
    const json& remedy = report_.at("remedies")[i];
    const std::string what = fmt::format("remedies {}", i);
    rate(remedy.at("rate"), what);
    near_rates(remedy, what);
    thread_code(remedy, what, remedy.at("kind") == "order");
    if (remedy.contains("other")) thread_code(remedy.at("other"), what + " other", false);
    if (remedy.contains("lock")) lock_step(remedy.at("lock"), what + " lock");
    if (remedy.contains("cycle"))
      demand(remedy.at("cycle") == report_.at("deadlock"), "{}: the cycle is not that of the deadlock", what);
    demand(remedy.at("kind") != "order" || reverses_flip(remedy), "{}: it is not the first pair in reverse order",
           what);
    demand(remedy.at("text") == remedy_sentence(remedy), "{}: the text is not that of its members", what);
    if (remedy.value("assume", "") != "") assumption(remedy, what);
  }

  // Checks that fewer runs fail with the remedy: random ones, or those that begin like the failing one.
  void near_rates(const json& remedy, const std::string& what) {
    const bool is_rare = fails_more(counted(report_.at("base")), counted(remedy.at("rate")));
    demand(is_rare || remedy.contains("near"), "{}: not shown to help", what);
    if (!remedy.contains("near")) return;
    const json &with = remedy.at("near").at("with"), &without = remedy.at("near").at("without");
    rate(with, what + " near");
    for (const char* member : {"tried", "failed", "other", "passed", "let_go"}) {
      std::uint64_t sum = 0;
      for (const json& point : report_.at("curve")) sum += point.at("rate").at(member).get<std::uint64_t>();
      demand(without.at(member) == sum, "{}: without it, another number than the curve's", what);
    }
    const std::uint64_t runs = runs_;  // those of the curve were counted there
    rate(without, what + " near");
    runs_ = runs;
    demand(is_rare || fails_more(counted(without), counted(with)), "{}: not shown to help near the failing run", what);
  }

  void thread_code(const json& code, const std::string& what, bool is_order) {
    const json &begin = code.at("begin"), &end = code.at("end");
    for (const json* event : {&begin, &end}) failing_step(*event, what);
    demand(is_order || (begin.at("thread") == end.at("thread") && begin.at("choice") <= end.at("choice")),
           "{}: not from begin to end of one thread", what);
    if (code.contains("lines"))
      demand(code.at("lines").at("first") <= code.at("lines").at("last"), "{}: the lines are not in order", what);
  }

  // True if the remedy lets the first pair, or the block that it breaks, wait for the event that comes too late.
  bool reverses_flip(const json& remedy) const {
    const auto is_step = [](json named, json step) {
      named.erase("called_by");
      step.erase("called_by");
      return named == step;
    };
    const json& flips = report_.at("flips");
    if (flips.empty()) return false;
    const json &begin = remedy.at("begin"), &end = remedy.at("end"), &flip = flips[0];
    if (is_step(begin, flip.at("then")) && is_step(end, flip.at("first"))) return true;
    return flip.contains("block") && is_step(begin, flip.at("block").at("between")) &&
           is_step(end, flip.at("block").at("begin"));
  }

  static void lock_step(const json& taken, const std::string& what) {
    step(taken, what);
    demand(checked_count(taken.at("number"), what) > 0, "{}: the lock was never taken", what);
    demand(taken.at("does") == "locks", "{}: no lock", what);
  }
  // Checks that the event's own thread took the lock.
  static void lock_before(const json& event, const std::string& what) {
    const json& taken = event.at("locked_at");
    lock_step(taken, what);
    demand(taken.at("thread") == event.at("thread"), "{}: no lock of the thread", what);
  }

  // Checks that the text for --assume is an assumption of the remedy's kind about its places.
  static void assumption(const json& remedy, const std::string& what) {
    const auto text = remedy.at("assume").get<std::string>();
    Assumption assumption;
    try {
      assumption = parse_assumption(text);
    } catch (const BadInput& error) {
      throw Unborne{what + ": " + error.what()};
    }
    demand(text_of(assumption) == text, "{}: the assumption is not written in its standard form", what);
    demand(assumption.then.has_value() == (remedy.at("kind") == "order"), "{}: an assumption of another kind", what);
    const auto is_of = [](const CodePlace& place, const json& named) {
      const json& step = named.contains("inside") ? named.at("inside") : named;
      return place.line == 0 || (place.name == step.value("function", "") && place.line == step.value("line", 0));
    };
    if (assumption.then)
      demand(is_of(*assumption.then, remedy.at("end")) && is_of(*assumption.first, remedy.at("begin")),
             "{}: the assumption orders other places", what);
    else if (assumption.rivals.empty())
      demand(is_of(assumption.blocks[0].begin, remedy.at("begin")) && is_of(assumption.blocks[0].end, remedy.at("end")),
             "{}: the assumption is about another block", what);
  }

  const json& report_;
  std::uint64_t runs_ = 0;  // in all rates
};

}  // namespace

std::optional<std::string> check_report(const json& report) {
  try {
    ReportCheck(report).all();
  } catch (const Unborne& unborne) {
    return unborne.statement;
  } catch (const json::exception& error) {
    return error.what();  // the report has another form
  }
  return {};
}

json checked_report(const Explanation& explanation, Places& places) {
  json report = json_report(explanation, places);
  const std::optional<std::string> wrong = check_report(report);
  CHECK(!wrong, "the report contradicts its own figures: {}", *wrong);
  return report;
}

}  // namespace reweave

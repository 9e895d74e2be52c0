#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "explorer/explain/event_words.h"
#include "explorer/explain/report.h"
#include "explorer/wording.h"

namespace reweave {

namespace {

// "0 of 20 (at most 17 %)" is for numbers that stand alone; in sentences the share comes first.
std::string percent(double share) {
  const double value = share * 100;
  return value > 0 && value < 1 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string share_text(const Rate& rate) {
  if (rate.tried == 0) return "not feasible";
  return fmt::format("{} of {}", rate.failed, rate.tried);
}

std::string interval_text(const Rate& rate) {
  const Interval interval = interval_of(rate);
  return fmt::format("{} to {}", percent(interval.low), percent(interval.high));
}

class TextReport {
 public:
  TextReport(const Explanation& explanation, Places& places, bool full)
      : explanation_(explanation), places_(places), full_(full) {}

  std::string cause() const {
    if (explanation_.flips.empty()) return cycle_text();
    const Flip& flip = explanation_.flips.front();
    if (!explanation_.deadlock.empty())
      return cycle_text() + "\n  It comes about where " + order_text(flip.pair) + "\n" + evidence(flip);
    return (flip.block_tells ? block_text(*flip.block) : order_text(flip.pair)) + "\n" + evidence(flip);
  }

  std::string whole() {
    std::string text = fmt::format("The failure: {}\n", first_line(explanation_.outcome));
    if (!explanation_.last_words.empty()) text += fmt::format("  {}\n", explanation_.last_words);
    if (const std::string cause_said = cause(); !cause_said.empty())
      text += "\nThe cause: " + cause_said + steps_text();
    text += curve_text();
    for (const Remedy& remedy : explanation_.remedies)
      if (full_ || &remedy == &explanation_.remedies.back()) text += remedy_text(remedy);
    text += flips_table() + patterns_table();
    text += fmt::format("\n{} runs were made for this.\n", explanation_.runs);
    for (const std::string& note : explanation_.notes) text += fmt::format("Not examined: {}.\n", note);
    if (explanation_.out_of_time) text += "The time was up before all was tried.\n";
    return text;
  }

 private:
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  std::string object_of(const Event& event) const {
    const std::string object = object_words(explanation_, event, places_);
    return object.empty() ? "it" : object;
  }
  // "deposit (bank.c:20)"; with the caller where that tells more.
  std::string place_of(const Event& event) const {
    const std::string caller = caller_words(explanation_, event, places_);
    return places_.code(event.name.pc) + (caller.empty() ? "" : ", called by " + caller);
  }
  // "thread 2 writes balance in deposit (bank.c:20)".
  std::string event_text(const Event& event) const {
    if (uses_block(explanation_, event))
      return fmt::format("thread {} {}, in {}, {}", event.name.thread, verb_of(event.note), place_of(event),
                         object_of(event));
    const std::string object = object_text(event.note, places_).empty() ? "" : " " + object_of(event);
    return fmt::format("thread {} {}{} in {}", event.name.thread, verb_of(event.note), object, place_of(event));
  }
  // The same where the object was named before: "writes it in deposit (bank.c:20)".
  std::string short_text(const Event& event) const {
    return fmt::format("{} it in {}", verb_of(event.note), place_of(event));
  }

  std::string block_text(const BrokenBlock& block) const {
    return fmt::format("{}, after thread {} {} and before thread {} {}.", event_text(block.between),
                       block.begin.name.thread, short_text(block.begin), block.end.name.thread, short_text(block.end));
  }
  std::string order_text(const EventPair& pair) const {
    return fmt::format("{}{} before thread {} {}.", event_text(pair.first),
                       uses_block(explanation_, pair.first) ? "," : "", pair.then.name.thread, short_text(pair.then));
  }

  // "thread 1 holds a, which it locks in f (x.c:1), and waits for b in g (x.c:2); thread 2 holds b, ...".
  std::string cycle_text() const {
    std::string text;
    for (const LockWait& wait : explanation_.deadlock)
      text += fmt::format("{}thread {} holds {}, taken in {}, and waits for {} in {}", text.empty() ? "" : "; ",
                          wait.holds.name.thread, object_of(wait.holds), place_of(wait.holds), object_of(wait.wants),
                          place_of(wait.wants));
    return text.empty() ? text : text + ".";
  }

  std::string evidence(const Flip& flip) const {
    std::string text = "  In the failing schedule, with the other order: ";
    if (flip.reversed.tried == 0)
      text += "not feasible.";
    else
      text += fmt::format("{} runs fail{}.", share_text(flip.reversed),
                          flip.is_necessary() ? ", so this order is necessary" : "");
    text += fmt::format("\n  In random schedules: {} fail; {} with this order forced, {} with the other order.\n",
                        share_text(explanation_.base), share_text(flip.forced), share_text(flip.avoided));
    return text;
  }

  // The source lines of what the cause names, in the order of the failing run.
  std::string steps_text() const {
    if (explanation_.flips.empty()) return "";
    const Flip& flip = explanation_.flips.front();
    std::vector<Event> events = {flip.pair.first, flip.pair.then};
    if (flip.block_tells) events = {flip.block->begin, flip.block->between, flip.block->end};
    if (!explanation_.deadlock.empty()) events.clear();
    for (const LockWait& wait : explanation_.deadlock) events.push_back(wait.holds), events.push_back(wait.wants);
    std::string text = "\n";
    for (const Event& event : events) {
      const SourceFrame* source = places_.source(event.name.pc);
      if (source == nullptr || source->file.empty()) continue;
      text += fmt::format("  thread {:<3} {}:{:<5} {}\n", event.name.thread,
                          std::filesystem::path(source->file).filename().string(), source->line,
                          places_.source_line(event.name.pc));
    }
    return text;
  }

  std::string curve_text() const {
    const std::optional<std::size_t> at = explanation_.inevitable();
    const Observation& run = explanation_.failing.observed;
    if (!at || explanation_.curve.empty() || run.empty()) return "";
    const CurvePoint& point = explanation_.curve[*at];
    if (*at == 0) return "\nEvery schedule tried fails.\n";
    const CurvePoint& before = explanation_.curve[*at - 1];
    const std::size_t last = std::min(point.choice, run.size()) - 1;
    return fmt::format("\nInevitable once thread {} {}: from there on {} runs fail, just before {}.\n",
                       run[last].thread, operation_text(run[last], places_), share_text(point.rate),
                       share_text(before.rate));
  }

  std::string remedy_text(const Remedy& remedy) const {
    return fmt::format("\nTried as a remedy: {}: {} random schedules fail ({} at 95 % confidence); without it {}.\n",
                       remedy_phrase(explanation_, remedy, places_), share_text(remedy.rate),
                       interval_text(remedy.rate), share_text(explanation_.base));
  }

  std::string flips_table() const {
    constexpr std::size_t kMost = 4;
    if (explanation_.flips.size() < 2 && !full_) return "";
    std::string text = fmt::format("\n{:>8} {:>8} {:>8}  runs that fail, by the order of two events\n", "reversed",
                                   "forced", "avoided");
    for (std::size_t i = 0; i < explanation_.flips.size() && (full_ || i < kMost); i++) {
      const Flip& flip = explanation_.flips[i];
      text += fmt::format("{:>8} {:>8} {:>8}  {} before thread {} {}\n", cell(flip.reversed), cell(flip.forced),
                          cell(flip.avoided), event_text(flip.pair.first), flip.pair.then.name.thread,
                          short_text(flip.pair.then));
    }
    if (explanation_.flips.size() > kMost && !full_)
      text += fmt::format("{} more: --full\n", explanation_.flips.size() - kMost);
    return text;
  }
  static std::string cell(const Rate& rate) {
    return rate.tried == 0 ? "-" : fmt::format("{}/{}", rate.failed, rate.tried);
  }

  std::string patterns_table() const {
    if (!full_ || explanation_.patterns.empty()) return "";
    std::string text = fmt::format("\n{:>9} {:>5}  access patterns by suspiciousness\n", "suspicion", "rank");
    for (const RankedPattern& pattern : explanation_.patterns) {
      std::string accesses;
      for (const ChoiceNote& note : pattern.accesses)
        accesses += fmt::format("{}{} {}", accesses.empty() ? "" : ", then ",
                                note.thread == pattern.accesses.front().thread ? "one thread" : "another",
                                operation_text(note, places_));
      const std::string rank = pattern.best == pattern.worst ? fmt::format("{}", pattern.best)
                                                             : fmt::format("{}-{}", pattern.best, pattern.worst);
      text += fmt::format("{:>9.2f} {:>5}  {}\n", pattern.suspiciousness, rank, accesses);
    }
    return text;
  }

  const Explanation& explanation_;
  Places& places_;
  bool full_;
};

}  // namespace

std::string cause_text(const Explanation& explanation, Places& places) {
  return TextReport(explanation, places, false).cause();
}

std::string remedy_phrase(const Explanation& explanation, const Remedy& remedy, Places& places) {
  const auto place_of = [&](const Event& event) {
    const std::string caller = caller_words(explanation, event, places);
    return places.code(event.name.pc) + (caller.empty() ? "" : ", called by " + caller);
  };
  const std::string begin = place_of(remedy.begin), end = place_of(remedy.end);
  if (!remedy.is_region) return fmt::format("{} only after {}", end, begin);
  const std::string words = object_words(explanation, remedy.begin, places), object = words.empty() ? "it" : words;
  const SourceFrame *from = places.source(remedy.begin.name.pc), *to = places.source(remedy.end.name.pc);
  const bool lines = from != nullptr && to != nullptr && from->file == to->file && from->line != 0;
  if (!lines) return fmt::format("from {} to {} no other use of {}", begin, end, object);
  const auto [first, last] = std::minmax(from->line, to->line);
  const std::string range = first == last ? fmt::format("line {}", first) : fmt::format("lines {} to {}", first, last);
  return fmt::format("{} of {} not interrupted by another use of {}", range, from->function, object);
}

std::string text_report(const Explanation& explanation, Places& places, bool full) {
  return TextReport(explanation, places, full).whole();
}

}  // namespace reweave

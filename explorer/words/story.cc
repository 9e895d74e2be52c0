#include "explorer/words/story.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <map>
#include <vector>

#include "explorer/run/chosen_values.h"
#include "explorer/words/wording.h"
#include "formats/base/utf8.h"
#include "formats/elf/source_lines.h"

namespace reweave {

namespace {

constexpr std::size_t kMostStops = 8;  // described one by one
constexpr std::size_t kMostValues = 8;
constexpr std::size_t kMostListedThreads = 6;  // named in a list

class Teller {
 public:
  Teller(const RunResult& run, Places& places) : run_(run.observed), result_(run), places_(places) {}

  std::string tell() {
    if (run_.empty()) return "";
    std::string text;
    std::size_t stops = 0;
    for (std::size_t i = 0; i < run_.size(); i++)
      if (run_.preempted(i) && stops++ < kMostStops) text += (text.empty() ? "" : " ") + stop(i);
    if (stops > kMostStops) text += fmt::format(" {} more stops follow.", stops - kMostStops);
    if (stops == 0) text = "No thread is preempted: each runs until it waits or ends. " + order();
    return text + values() + standstill();
  }

  std::string ending() {
    if (run_.empty()) return "";
    const std::string what = result_.outcome == wire::OutcomeKind::kLeftRecording
                                 ? fmt::format("The run could not be followed any further: it {}", result_.text)
                                 : fmt::format("The failure: {}", first_line(describe_outcome(result_)));
    if (!result_.races.empty()) return what + ".";
    // The last step in the program itself: operations of a library that aborts are of no interest.
    const ThreadId last = run_[run_.size() - 1].thread;
    for (std::size_t i = run_.size(); i-- > 0;)
      if (run_[i].thread == last && places_.in_program(run_[i].pc))
        return fmt::format("{}, in thread {}, which last {}{}.", what, last, operation_text(run_[i], places_),
                           quoted(run_[i].pc));
    return fmt::format("{}, in thread {}.", what, last);
  }

 private:
  // The values that reweave::choose returned.
  std::string values() const {
    const std::vector<ChosenValue> chosen = chosen_values(result_);
    std::string text;
    for (std::size_t i = 0; i < std::min(chosen.size(), kMostValues); i++)
      text += fmt::format("{} thread {} chose {} of {}", i == 0 ? "" : ",", chosen[i].thread, chosen[i].value,
                          chosen[i].count);
    if (chosen.size() > kMostValues) text += fmt::format(" and {} more values", chosen.size() - kMostValues);
    return text.empty() ? "" : " With reweave::choose," + text + ".";
  }

  // The first choice of `thread` from `i` on.
  std::size_t next_of(ThreadId thread, std::size_t i) const {
    while (i < run_.size() && run_[i].thread != thread) i++;
    return i;
  }

  std::string stop(std::size_t i) {
    const ThreadId stopped = run_[i].from;
    const std::size_t back = next_of(stopped, i);
    std::string text = fmt::format("Thread {} stops{}", stopped, back < run_.size() ? "" : " for good");
    if (back < run_.size()) text += " before it " + operation_text(run_[back], places_);
    if (back < run_.size()) text += quoted(run_[back].pc);
    text += fmt::format(". {}", meanwhile(i, back, stopped));
    return text;
  }

  std::string quoted(std::uint64_t pc) {
    constexpr std::size_t kLongest = 100;
    const std::string line = shortened(places_.source_line(pc), kLongest);
    return line.empty() ? "" : fmt::format(" `{}`", line);
  }

  // The threads that run in [from, to), and their operations that conflict with the stopped thread's next operation.
  std::string meanwhile(std::size_t from, std::size_t to, ThreadId stopped) {
    std::vector<ThreadId> who;
    std::vector<std::size_t> conflicts;
    for (std::size_t i = from; i < to; i++) {
      if (std::find(who.begin(), who.end(), run_[i].thread) == who.end()) who.push_back(run_[i].thread);
      if (to < run_.size() && dependent(run_[i], run_[to]) && !run_.resumed(i)) conflicts.push_back(i);
    }
    std::string text = names_of(who);
    text += to < run_.size()  ? who.size() == 1 ? " runs in between" : " run in between"
            : who.size() == 1 ? " runs to the end"
                              : " run to the end";
    if (!conflicts.empty()) {
      const std::size_t last = conflicts.back();
      text += fmt::format(": thread {} {}{}", run_[last].thread, operation_text(run_[last], places_),
                          quoted(run_[last].pc));
    }
    if (to < run_.size()) text += fmt::format("; then thread {} continues", stopped);
    return text + ".";
  }

  std::string order() {
    std::string text;
    ThreadId last = 0xffff;
    int shown = 0;
    for (std::size_t i = 0; i < run_.size() && shown < 12; i++)
      if (run_[i].thread != last) {
        last = run_[i].thread;
        text += fmt::format("{}{}", shown++ == 0 ? "Order: " : ", ", last);
      }
    return text + ".";
  }

  bool goes_round(ThreadId thread) const {
    return std::ranges::any_of(run_.tail(), [=](const ChoiceNote& note) { return note.thread == thread; });
  }

  // The loop of each thread in a run that does not end; threads with the same loop are described together.
  std::string loops() {
    std::map<std::string, std::vector<ThreadId>> threads_by_loop;
    for (std::uint32_t id = 0; id < run_.threads(); id++)
      if (goes_round(static_cast<ThreadId>(id)))
        threads_by_loop[loop_of(static_cast<ThreadId>(id))].push_back(static_cast<ThreadId>(id));
    std::string text;
    for (const auto& [loop, threads] : threads_by_loop)
      text += fmt::format(" {} go{} round in a loop: {}.", names_of(threads), threads.size() == 1 ? "es" : "", loop);
    return text;
  }

  // The different operations of the thread in the tail, in order; those of libraries only if there are no others.
  std::string loop_of(ThreadId thread) {
    constexpr std::size_t kMostSteps = 4;
    const bool in_program = std::ranges::any_of(
        run_.tail(), [&](const ChoiceNote& note) { return note.thread == thread && places_.in_program(note.pc); });
    std::vector<std::string> steps;
    for (const ChoiceNote& note : run_.tail()) {
      if (note.thread != thread || (in_program && !places_.in_program(note.pc))) continue;
      const std::string step = operation_text(note, places_) + quoted(note.pc);
      if (std::ranges::find(steps, step) == steps.end()) steps.push_back(step);
    }
    if (steps.size() > kMostSteps) {
      const std::size_t more = steps.size() - kMostSteps;
      steps.resize(kMostSteps);
      steps.push_back(fmt::format("and {} more", more));
    }
    std::string text;
    for (const std::string& step : steps) text += (text.empty() ? "" : ", ") + step;
    return text;
  }

  static std::string names_of(const std::vector<ThreadId>& threads) {
    std::string text = threads.size() == 1 ? "Thread " : "Threads ";
    if (threads.size() > kMostListedThreads) return fmt::format("{} threads", threads.size());
    for (std::size_t i = 0; i < threads.size(); i++)
      text += fmt::format("{}{}", i == 0 ? "" : i + 1 == threads.size() ? " and " : ", ", threads[i]);
    return text;
  }

  // For a deadlock or hang: where each unfinished thread is.
  std::string standstill() {
    if (result_.outcome != wire::OutcomeKind::kDeadlock && result_.outcome != wire::OutcomeKind::kHang) return "";
    std::string text = loops();
    for (std::uint32_t id = 0; id < run_.threads(); id++) {
      if (goes_round(static_cast<ThreadId>(id))) continue;
      std::size_t last = run_.size();
      for (std::size_t i = 0; i < run_.size(); i++)
        if (run_[i].thread == id) last = i;
      if (last == run_.size()) continue;
      const bool ended = kind_of(run_[last]) == OpKind::kSyscall && run_[last].detail == SYS_exit;
      // Operations inside libraries do not show where the program is.
      for (std::size_t i = last; !places_.in_program(run_[last].pc) && i-- > 0;)
        if (run_[i].thread == id && places_.in_program(run_[i].pc)) last = i;
      if (!ended)
        text += fmt::format(" Thread {} stands where it {}{}.", id, operation_text(run_[last], places_),
                            quoted(run_[last].pc));
    }
    return text;
  }

  const Observation& run_;
  const RunResult& result_;
  Places& places_;
};

}  // namespace

std::string tell_story(const RunResult& run, Places& places) { return Teller(run, places).tell(); }

std::string tell_ending(const RunResult& run, Places& places) { return Teller(run, places).ending(); }

}  // namespace reweave

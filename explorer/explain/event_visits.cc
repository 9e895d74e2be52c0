#include "explorer/explain/event_visits.h"

#include "explorer/explain/context.h"
#include "explorer/run/interruption.h"
#include "replayer/live/live_variables.h"
#include "replayer/live/timeline.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;
struct AskedOf {
  std::uint64_t object;  // to find a variable that leads to it; 0: not needed
  bool callers;
};
using AskedEvents = std::map<Arrival, AskedOf>;

bool has_ended(const Stop& stop) { return stop.reason == StopReason::kExited || stop.reason == StopReason::kKilled; }

class EventVisits {
 public:
  EventVisits(const std::string& run, AskedEvents wanted, Clock::time_point deadline)
      : timeline_({"/proc/self/exe", run, "", -1}, core_symbols(find_runtime().core)),
        wanted_(std::move(wanted)),
        deadline_(deadline) {}

  // Visits each event when its thread returns from the operation. Events from which no thread returns are visited at
  // the end of the run.
  std::map<Arrival, EventContext> find(std::uint64_t main) {
    {
      Place place = timeline_.land(1);
      if (place.lwp == 0) return {};
      place.process().poll = [this] { return is_over(); };
      if (to_main(place.process(), main)) visit(place.process());
    }
    if (!wanted_.empty() && !is_over()) visit_end();
    return std::move(found_);
  }

  bool was_cut_short() const { return was_cut_short_; }

 private:
  bool is_over() {
    was_cut_short_ = was_cut_short_ || Clock::now() >= deadline_ || interruption() != 0;
    return was_cut_short_;
  }

  // Runs to main, where explored runs and the counts of arrivals begin. False if the process or the time ended first.
  bool to_main(TracedProcess& process, std::uint64_t main) {
    process.breakpoints = {main};
    while (!is_over()) {
      const Stop stop = process.run({}, false);
      if (has_ended(stop)) return false;
      if (stop.reason == StopReason::kBreakpoint && index_of(process, stop.lwp) == 0u) return true;
    }
    return false;
  }

  void visit(TracedProcess& process) {
    process.breakpoints.clear();
    for (const auto& [event, wanted] : wanted_) process.breakpoints.insert(event.pc);
    std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals;
    while (!wanted_.empty() && !is_over()) {
      const Stop stop = process.run({}, false);
      if (has_ended(stop)) return;
      if (stop.reason != StopReason::kBreakpoint) continue;
      const auto thread = static_cast<ThreadId>(index_of(process, stop.lwp).value_or(0));
      const std::uint64_t pc = process.registers(stop.lwp).rip;
      const auto event = wanted_.find({pc, ++arrivals[{thread, pc}], thread, 0});
      if (event == wanted_.end()) continue;
      process.stop_all();
      found_[event->first] = context_of(process, *event, stop.lwp);
      wanted_.erase(event);
    }
  }

  void visit_end() {
    const std::unique_ptr<HeldReplay> replay = timeline_.hold("end", true);
    if (replay->process().ended()) return;
    for (const auto& wanted : wanted_)
      if (const pid_t lwp = lwp_of(replay->process(), wanted.first.thread); lwp != 0)
        found_[wanted.first] = context_of(replay->process(), wanted, lwp);
  }

  static EventContext context_of(const TracedProcess& process, const AskedEvents::value_type& wanted, pid_t lwp) {
    EventContext context;
    const auto& [event, what] = wanted;
    if (what.object != 0) context.variable = LiveVariables(process).name_of(what.object, lwp);
    if (!what.callers) return context;
    const std::vector<LiveFrame> frames = LiveFrames(process).of(lwp);
    const bool is_there = !frames.empty() && (frames[0].pc == event.pc || frames[0].pc + 1 == event.pc);
    for (std::size_t i = 1; is_there && i < frames.size(); i++) context.callers.push_back(frames[i].pc + 1);
    return context;
  }

  Timeline timeline_;
  AskedEvents wanted_;
  Clock::time_point deadline_;
  bool was_cut_short_ = false;
  std::map<Arrival, EventContext> found_;
};

}  // namespace

bool visit_events(Explanation& explanation, const std::string& run, Places& places, Clock::time_point deadline) {
  AskedEvents wanted;
  for (const auto& [event, object] : events_named(explanation)) {
    // Skip descriptors: no breakpoint may be at a system call, whose code the runtime patches.
    if (object >= kCoreBase && object < kStacksBase) continue;
    const AskedOf what = {object == 0 || places.is_global(object) ? 0 : object,
                          explanation.contexts[event].callers.empty() && !places.is_own(event.pc)};
    if (what.object != 0 || what.callers) wanted.emplace(event, what);
  }
  if (wanted.empty()) return true;
  EventVisits visits(run, std::move(wanted), deadline);
  for (auto& [event, found] : visits.find(places.address_of("main"))) {
    EventContext& context = explanation.contexts[event];
    context.variable = std::move(found.variable);
    if (context.callers.empty()) context.callers = std::move(found.callers);
  }
  return !visits.was_cut_short();
}

}  // namespace reweave

#include "explorer/explain/event_visits.h"

#include "explorer/explain/context.h"
#include "replayer/live/live_variables.h"
#include "replayer/live/timeline.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;
struct AskedOf {
  std::uint64_t object;  // 0: its name is known
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

  // Each event where the thread comes out of its operation; those that no thread comes out of, at the end.
  std::map<Arrival, EventContext> find(std::uint64_t main) {
    {
      Place place = timeline_.land(1);
      if (place.lwp == 0) return {};
      place.process().poll = [this] { return Clock::now() >= deadline_; };
      if (to_main(place.process(), main)) visit(place.process());
    }
    if (!wanted_.empty() && Clock::now() < deadline_) visit_end();
    return std::move(found_);
  }

 private:
  // Explored runs begin there, and so does the count of arrivals.
  bool to_main(TracedProcess& process, std::uint64_t main) const {
    process.breakpoints = {main};
    while (Clock::now() < deadline_) {
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
    while (!wanted_.empty() && Clock::now() < deadline_) {
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
  std::map<Arrival, EventContext> found_;
};

}  // namespace

void visit_events(Explanation& explanation, const std::string& run, Places& places, Clock::time_point deadline) {
  AskedEvents wanted;
  for (const auto& [event, object] : events_named(explanation)) {
    // The descriptors. No breakpoint may be where the runtime patches the code of system calls.
    if (object >= kCoreBase && object < kStacksBase) continue;
    const AskedOf what = {object == 0 || places.is_global(object) ? 0 : object,
                          explanation.contexts[event].callers.empty() && !places.is_own(event.pc)};
    if (what.object != 0 || what.callers) wanted.emplace(event, what);
  }
  if (wanted.empty()) return;
  for (auto& [event, found] : EventVisits(run, std::move(wanted), deadline).find(places.address_of("main"))) {
    EventContext& context = explanation.contexts[event];
    context.variable = std::move(found.variable);
    if (context.callers.empty()) context.callers = std::move(found.callers);
  }
}

}  // namespace reweave

#include "explorer/explain/context.h"

#include <algorithm>
#include <set>

#include "explorer/explain/deadlock.h"
#include "explorer/words/call_stacks.h"
#include "formats/base/private_folder.h"
#include "formats/trace/trace_reader.h"
#include "replayer/trace_recording.h"

namespace reweave {

namespace {

class ContextFinder {
 public:
  explicit ContextFinder(const std::map<Arrival, std::uint64_t>& wanted) : wanted_(wanted) {}

  void follow(const TraceReader& reader, const TraceChunk& chunk) {
    for (std::size_t i = 0; i < chunk.size(); i++) {
      const ThreadId thread = chunk.thread[i];
      const std::uint64_t pc = reader.pc_of(chunk.site[i]);
      calls_.follow(chunk, i, pc);
      switch (chunk.kind[i]) {
        case EventKind::kCall:
          if (chunk.aux[i] == kEntersMain) arrivals_.clear();  // explored runs begin here
          break;
        case EventKind::kAlloc:
          if (chunk.aux[i] != kThreadStack)
            blocks_[chunk.address[i]] = {chunk.address[i], chunk.extra[i], calls_.stack(thread, pc)};
          break;
        default:
          break;
      }
      if (is_arrival(chunk.event(i, pc))) arrive(thread, pc);
    }
  }
  std::map<Arrival, EventContext> take() { return std::move(found_); }

 private:
  // True for events that begin an operation. An acquisition does not if the thread has requested the lock: the request
  // began the operation.
  bool is_arrival(const TraceEvent& event) {
    std::pair<std::uint64_t, std::uint64_t>& requested = requests_[event.thread];
    const bool is_request = event.kind == EventKind::kLockRequest;
    const bool is_granted = event.kind == EventKind::kLock && requested == std::pair(event.pc, event.address);
    if (is_request) requested = {event.pc, event.address};
    if (is_granted) requested = {};
    return is_request || (!is_granted && is_schedule_point(event));
  }
  void arrive(ThreadId thread, std::uint64_t pc) {
    const Arrival name = {pc, ++arrivals_[{thread, pc}], thread, 0};
    const auto wanted = wanted_.find(name);
    if (wanted == wanted_.end()) return;
    EventContext& context = found_[name];
    context.callers = calls_.callers(thread);
    context.block = block_of(wanted->second);
  }

  std::optional<HeapBlock> block_of(std::uint64_t address) const {
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return {};
    block--;
    if (address - block->first >= block->second.bytes) return {};
    return block->second;
  }

  const std::map<Arrival, std::uint64_t>& wanted_;  // events, each with its object
  CallStacks calls_;
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals_;
  std::map<ThreadId, std::pair<std::uint64_t, std::uint64_t>> requests_;  // code and lock of the latest request
  std::map<std::uint64_t, HeapBlock> blocks_;                             // the latest at each address
  std::map<Arrival, EventContext> found_;
};

}  // namespace

std::optional<std::pair<Arrival, std::size_t>> inevitable_step(const Explanation& explanation) {
  const Observation& run = explanation.failing.observed;
  const std::optional<std::size_t> point = explanation.inevitable();
  if (!point || run.empty()) return {};
  const std::size_t followed = std::min(explanation.curve[*point].choice, run.size());
  if (followed == 0) return {};
  const std::size_t choice = followed - 1;
  Arrival name = {run[choice].pc, 0, run[choice].thread, 0};
  for (std::size_t i = 0; i <= choice; i++)
    if (run[i].thread == name.thread && run[i].pc == name.pc && !run.resumed(i)) name.number++;
  return {{name, choice}};
}

std::map<Arrival, std::uint64_t> events_named(const Explanation& explanation) {
  std::map<Arrival, std::uint64_t> events;
  const auto add = [&](const Event& event) {
    events[event.name] = event.note.object;
    if (!event.locks.empty()) events[event.entry()] = event.locks.front().object;
  };
  if (const auto step = inevitable_step(explanation))
    events[step->first] = explanation.failing.observed[step->second].object;
  for (const LockWait& wait : explanation.deadlock) add(wait.holds), add(wait.wants);
  for (const Event& wait : last_waits(explanation.failing)) add(wait);
  for (const Flip& flip : explanation.flips) {
    add(flip.pair.first), add(flip.pair.then);
    if (flip.block) add(flip.block->begin), add(flip.block->between), add(flip.block->end);
  }
  if (explanation.together)
    for (const OrderSet::Member& member : explanation.together->members) add(member.pair.first), add(member.pair.then);
  for (const Remedy& remedy : explanation.remedies) {
    add(remedy.begin), add(remedy.end);
    if (remedy.other) add(remedy.other->begin), add(remedy.other->end);
  }
  return events;
}

void add_contexts(Explanation& explanation, const std::string& recording) {
  if (events_named(explanation).empty()) return;
  const PrivateFolder folder;
  const std::string trace = folder.path() + "/trace.rwt";
  trace_recording(recording, trace);
  add_traced_contexts(explanation, trace);
}

void add_traced_contexts(Explanation& explanation, const std::string& trace) {
  const std::map<Arrival, std::uint64_t> wanted = events_named(explanation);
  TraceReader reader(trace);
  ContextFinder finder(wanted);
  for (TraceChunk chunk; reader.next(chunk);) finder.follow(reader, chunk);
  explanation.contexts = finder.take();
}

}  // namespace reweave

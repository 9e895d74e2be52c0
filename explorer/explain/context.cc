#include "explorer/explain/context.h"

#include <filesystem>
#include <set>

#include "formats/trace_reader.h"
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
      switch (chunk.kind[i]) {
        case EventKind::kCall:
          if (chunk.aux[i] == kEntersMain)
            arrivals_.clear();  // explored runs begin here
          else
            calls_[thread].push_back(pc);
          break;
        case EventKind::kReturn:
          if (std::vector<std::uint64_t>& calls = calls_[thread]; !calls.empty()) calls.pop_back();
          break;
        case EventKind::kAlloc:
          if (chunk.aux[i] != kThreadStack)
            blocks_[chunk.address[i]] = {chunk.address[i], chunk.extra[i], stack(thread, pc)};
          break;
        case EventKind::kStack:
        case EventKind::kBranch:
          break;
        default:
          arrive(thread, pc, chunk.address[i]);
      }
    }
  }
  std::map<Arrival, EventContext> take() { return std::move(found_); }

 private:
  std::vector<std::uint64_t> stack(ThreadId thread, std::uint64_t pc) {
    std::vector<std::uint64_t> stack = {pc};
    const std::vector<std::uint64_t>& calls = calls_[thread];
    stack.insert(stack.end(), calls.rbegin(), calls.rend());
    return stack;
  }

  // A lock is asked for and then taken: two events of one operation.
  void arrive(ThreadId thread, std::uint64_t pc, std::uint64_t address) {
    std::pair<std::uint64_t, std::uint64_t>& last = last_[thread];
    const bool again = last == std::pair(pc, address);
    last = again ? std::pair<std::uint64_t, std::uint64_t>{} : std::pair(pc, address);
    if (again) return;
    const Arrival name = {pc, ++arrivals_[{thread, pc}], thread, 0};
    const auto wanted = wanted_.find(name);
    if (wanted == wanted_.end()) return;
    EventContext& context = found_[name];
    const std::vector<std::uint64_t>& calls = calls_[thread];
    context.callers.assign(calls.rbegin(), calls.rend());
    context.block = block_of(wanted->second);
  }

  std::optional<HeapBlock> block_of(std::uint64_t address) const {
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return {};
    block--;
    if (address - block->first >= block->second.bytes) return {};
    return block->second;
  }

  const std::map<Arrival, std::uint64_t>& wanted_;  // and the object of each
  std::map<ThreadId, std::vector<std::uint64_t>> calls_;
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals_;
  std::map<ThreadId, std::pair<std::uint64_t, std::uint64_t>> last_;
  std::map<std::uint64_t, HeapBlock> blocks_;  // the latest at each address
  std::map<Arrival, EventContext> found_;
};

std::map<Arrival, std::uint64_t> events_named(const Explanation& explanation) {
  std::map<Arrival, std::uint64_t> events;
  const auto add = [&](const Event& event) { events[event.name] = event.note.object; };
  for (const LockWait& wait : explanation.deadlock) add(wait.holds), add(wait.wants);
  for (const Flip& flip : explanation.flips) {
    add(flip.pair.first), add(flip.pair.then);
    if (flip.block) add(flip.block->begin), add(flip.block->between), add(flip.block->end);
  }
  return events;
}

}  // namespace

void add_contexts(Explanation& explanation, const std::string& recording, const std::string& folder) {
  const std::map<Arrival, std::uint64_t> wanted = events_named(explanation);
  if (wanted.empty()) return;
  const std::string trace = (std::filesystem::path(folder) / "contexts.rwt").string();
  trace_recording(recording, trace);
  TraceReader reader(trace);
  ContextFinder finder(wanted);
  for (TraceChunk chunk; reader.next(chunk);) finder.follow(reader, chunk);
  explanation.contexts = finder.take();
  std::filesystem::remove(trace);
}

}  // namespace reweave

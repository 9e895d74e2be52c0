#include "tests/explorer/model_program.h"

#include <algorithm>
#include <cstring>

#include "formats/base/error.h"
#include "recorder/policy.h"

namespace reweave::model {

namespace {

// The pc of an operation: distinct for each.
std::uint64_t pc_of(std::size_t thread, std::size_t index) { return 0x400000 + thread * 0x1000 + index * 4; }

// One execution: the state of threads and locks.
class Execution {
 public:
  explicit Execution(const Program& program) : program_(&program), next_(program.threads.size()) {}

  bool finished(ThreadId t) const { return next_[t] >= program_->threads[t].size(); }
  bool blocked(ThreadId t) const {
    const Op& op = program_->threads[t][next_[t]];
    const auto held = holders_.find(op.object);
    return waits_.contains(t) && op.kind == OpKind::kLock && held != holders_.end();
  }
  std::vector<ThreadId> enabled() const {
    std::vector<ThreadId> list;
    for (std::size_t t = 0; t < next_.size(); t++)
      if (!finished(static_cast<ThreadId>(t)) && !blocked(static_cast<ThreadId>(t)))
        list.push_back(static_cast<ThreadId>(t));
    return list;
  }
  // Executes the next operation of `t`. Returns false if it blocked instead.
  bool execute(ThreadId t) {
    const Op& op = program_->threads[t][next_[t]];
    if (op.kind == OpKind::kLock && !holders_.try_emplace(op.object, t).second) {
      waits_[t] = true;
      return false;
    }
    waits_.erase(t);
    if (op.kind == OpKind::kUnlock) holders_.erase(op.object);
    history_.push_back({t, next_[t]++});
    return true;
  }
  // Fills in what policies see of thread `t`.
  void show(ThreadId t, Thread& thread) const {
    thread.id = t;
    thread.state.store(finished(t) ? ThreadState::kExited : ThreadState::kReady);
    if (finished(t)) return;
    const Op& op = program_->threads[t][next_[t]];
    thread.ticks = next_[t] + 1;
    thread.op = {
        op.object, op.pc != 0 ? op.pc : pc_of(t, next_[t]), op.kind, static_cast<std::uint8_t>(op.write ? 1 : 0), 0, 8};
  }
  const History& history() const { return history_; }

 private:
  const Program* program_;
  std::vector<std::size_t> next_;
  std::map<std::uint64_t, ThreadId> holders_;
  std::map<ThreadId, bool> waits_;
  History history_;
};

void log_switch(RunResult& run, const Thread& from, ThreadId to, bool preempted) {
  wire::SwitchRecord record = {};
  record.header = {static_cast<std::uint16_t>(wire::RecordKind::kSwitch), from.id, sizeof record};
  record.to = to;
  record.tick = static_cast<std::uint32_t>(from.ticks);
  record.reason = static_cast<std::uint8_t>(preempted ? wire::SwitchReason::kPreempted : wire::SwitchReason::kBlocked);
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  run.records.insert(run.records.end(), bytes, bytes + sizeof record);
}

ChoiceNote note_of(const Thread& thread, const Thread& from, bool from_enabled) {
  ChoiceNote note = {};
  note.object = thread.op.object;
  note.pc = thread.op.pc;
  note.tick = static_cast<std::uint32_t>(thread.ticks);
  note.detail = thread.op.detail;
  note.thread = thread.id;
  note.from = from.id;
  note.kind = static_cast<std::uint8_t>(thread.op.kind);
  note.is_write = thread.op.is_write;
  note.flags = from_enabled ? kFromEnabled : 0;
  return note;
}

}  // namespace

RunResult Program::run(const RunRequest& request, History* history) const {
  const Policy* policy = find_policy(request.policy.c_str());
  CHECK(policy != nullptr);
  PolicyConfig config = {};
  config.seed = request.seed;
  config.depth = request.depth;
  config.length = request.length;
  config.slice = 4;
  config.goal_bytes = request.goal.size();
  auto state = std::make_unique<PolicyState>();
  seed_random(*state, request.seed);
  policy->begin_run(config, *state);
  Execution execution(*this);
  std::vector<Thread> shown(threads.size());
  RunResult result;
  ThreadId current = 0;
  for (bool current_runs = true;; result.steps++) {
    const std::vector<ThreadId> enabled = execution.enabled();
    if (enabled.empty()) break;
    const bool current_enabled = current_runs && !execution.finished(current);
    for (ThreadId t = 0; t < threads.size(); t++) execution.show(t, shown[t]);
    const Thread& from = shown[current];
    const Choice choice =
        policy->choose({config, *state, shown.data(), enabled.data(), static_cast<std::uint32_t>(enabled.size()), from,
                        current_enabled, false, result.steps, request.goal.empty() ? nullptr : request.goal.data()});
    result.observed.append(note_of(shown[choice.thread], from, current_enabled), enabled);
    if (choice.thread != current) log_switch(result, from, choice.thread, current_enabled);
    current = choice.thread;
    current_runs = execution.execute(current);
  }
  std::memcpy(&result.witness, state->words.begin(), sizeof result.witness);
  if (request.policy == "guided") std::memcpy(&result.guide, state->guide.begin(), sizeof result.guide);
  for (ThreadId t = 0; t < threads.size(); t++)
    if (!execution.finished(t)) result.outcome = wire::OutcomeKind::kDeadlock, result.text = "deadlock";
  if (fails(execution.history())) result.outcome = wire::OutcomeKind::kExitStatus, result.wait_status = 1 << 8;
  if (history != nullptr) *history = execution.history();
  return result;
}

std::vector<History> Program::all_histories() const {
  std::vector<History> found;
  std::function<void(Execution)> extend = [&](Execution at) {
    bool any = false;
    for (const ThreadId t : at.enabled()) {
      Execution next = at;
      if (!next.execute(t)) continue;
      any = true;
      extend(std::move(next));
    }
    if (!any) found.push_back(at.history());
  };
  extend(Execution(*this));
  return found;
}

std::vector<std::pair<Executed, Executed>> Program::class_of(const History& history) const {
  std::vector<std::pair<Executed, Executed>> ordered;
  for (std::size_t i = 0; i < history.size(); i++)
    for (std::size_t j = i + 1; j < history.size(); j++) {
      const Op &a = op(history[i]), &b = op(history[j]);
      const bool conflict = a.object == b.object && (a.write || b.write);
      if (history[i].thread != history[j].thread && conflict) ordered.push_back({history[i], history[j]});
    }
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

}  // namespace reweave::model

#include "explorer/explain/way/step_recorder.h"

#include <algorithm>

#include "formats/base/error.h"
#include "replayer/live/timeline.h"

namespace reweave {

namespace {

constexpr std::size_t kMostRecordedSteps = 100'000;
constexpr std::uint64_t kRedZone = 128;  // bytes below the stack pointer that a function may use (x86-64 ABI)

std::array<std::uint64_t, kGeneralRegisters> in_order(const user_regs_struct& r) {
  return {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
}

std::uint64_t place_of(const Instruction& instruction, const user_regs_struct& values) {
  const auto registers = in_order(values);
  const MemoryPlace& memory = instruction.memory;
  if (instruction.shape == Instruction::Shape::kPush && !instruction.loads) return values.rsp - 8;
  auto place = static_cast<std::uint64_t>(memory.displacement);
  if (memory.base < kGeneralRegisters) place += registers[memory.base];
  if (memory.index < kGeneralRegisters) place += registers[memory.index] * memory.scale;
  return place + (memory.other_segment ? values.fs_base : 0);
}

std::optional<std::uint64_t> content(const TracedProcess& process, std::uint64_t place, std::uint8_t bytes) {
  std::uint64_t value = 0;
  if (bytes == 0 || bytes > sizeof value || !process.read(place, &value, bytes)) return {};
  return value;
}

// Steps one thread from its current place and records its instrumented instructions.
class Walk {
 public:
  using Clock = StepRecorder::Clock;

  Walk(ProgramCode& code, const AccessHistory& history, Clock::time_point deadline, const Place& place, ThreadId thread,
       std::size_t from, std::size_t until)
      : code_(code), history_(history), deadline_(deadline), process_(place.process()), lwp_(place.lwp), until_(until) {
    for (std::size_t i = history_.last_of(thread); i != AccessHistory::kNone && i != from; i = history_.before(i))
      entries_.push_back(i);
    std::ranges::reverse(entries_);
  }

  ExecutedPart run() {
    while (part_.steps.size() < kMostRecordedSteps && Clock::now() < deadline_) {
      if (!advance()) break;
      if (is_done()) {
        part_.end = ExecutedPart::End::kThere;
        break;
      }
    }
    return std::move(part_);
  }

 private:
  // False if nothing more can be recorded.
  bool advance() {
    const user_regs_struct values = process_.registers(lwp_);
    const Instruction* instruction = code_.at(values.rip);
    if (instruction == nullptr) return come_back(values);
    ExecutedStep step;
    step.instruction = instruction;
    step.registers = in_order(values);
    if (instruction->loads || instruction->stores) step.place = place_of(*instruction, values);
    if (instruction->loads) step.loaded = content(process_, step.place, instruction->bytes);
    const bool leaves = instruction->kind == Instruction::Kind::kCall || is_jump(*instruction);
    bool outside = false;
    if (leaves) step.callee = code_.callee(*instruction, outside);
    // A faulting instruction is seen a second time, after its signal was examined. Then let all threads run: the signal
    // may end the process, and a step of a single thread would not wait for that.
    if (!part_.steps.empty() && is_again(part_.steps.back(), step)) return run_to_end();
    part_.steps.push_back(std::move(step));
    if (instruction->kind == Instruction::Kind::kCall && outside) return pass_over(instruction->end(), values.rsp);
    if (!is_stop(process_.run({.thread = lwp_, .step = true}))) return false;
    ExecutedStep& done = part_.steps.back();
    if (instruction->stores) done.stored = content(process_, done.place, instruction->bytes);
    return true;
  }

  static bool is_again(const ExecutedStep& before, const ExecutedStep& step) {
    const Instruction& instruction = *step.instruction;
    return before.instruction == step.instruction && before.registers == step.registers && !before.passed_over &&
           instruction.kind == Instruction::Kind::kPlain;
  }
  bool is_jump(const Instruction& instruction) const {
    return instruction.kind == Instruction::Kind::kJump && code_.at(instruction.target) == nullptr;
  }

  // The thread is in code that is not followed. Continues at the return address.
  bool come_back(const user_regs_struct& values) {
    std::uint64_t back = 0;
    const bool entered = !part_.steps.empty() && part_.steps.back().instruction->kind != Instruction::Kind::kReturn;
    if (entered && process_.read(values.rsp, &back, sizeof back) && code_.at(back) != nullptr)
      return pass_over(back, values.rsp + sizeof back);
    if (entered) part_.steps.back().passed_over = true;
    return run_to_end();
  }

  bool run_to_end() {
    process_.breakpoints.clear();
    while (!process_.ended() && Clock::now() < deadline_) is_stop(process_.run({}));
    return false;
  }

  bool pass_over(std::uint64_t back, std::uint64_t stack) {
    part_.steps.back().passed_over = true;
    process_.breakpoints = {back};
    for (;;) {
      const Stop stop = process_.run({});
      if (!is_stop(stop) || Clock::now() > deadline_) return false;
      if (stop.reason != StopReason::kBreakpoint || stop.lwp != lwp_) continue;
      const user_regs_struct values = process_.registers(lwp_);
      if (values.rip == back && values.rsp + kRedZone >= stack) break;
    }
    process_.breakpoints.clear();
    take_entries(part_.steps.back());
    return true;
  }

  // Assigns to the step, which is a call, the next entries of the history that have the call's address.
  void take_entries(ExecutedStep& step) {
    const std::uint64_t place = step.instruction->end();
    for (std::size_t k = next_; k < entries_.size(); k++) {
      const TraceEvent& what = history_[entries_[k]].what;
      if (what.pc != place) {
        if (code_.at(what.pc) != nullptr) return;
        continue;
      }
      if (step.first_entry == ExecutedStep::kNoEntry)
        step.first_entry = entries_[k];
      else if ((what.aux & kSamePoint) == 0)
        return;
      step.last_entry = entries_[k];
      next_ = k + 1;
    }
  }

  // True if the access of entry `until_` was made. A call that announces a plain write comes before the store itself;
  // other calls make the access.
  bool is_done() {
    if (until_ == AccessHistory::kNone || part_.steps.empty()) return false;
    const ExecutedStep& last = part_.steps.back();
    const TraceEvent& what = history_[until_].what;
    if (last.passed_over && last.last_entry == until_) {
      bool plain = last.callee.starts_with("__tsan_") && !last.callee.starts_with("__tsan_atomic") &&
                   !last.callee.starts_with("__tsan_mem") && what.kind == EventKind::kWrite;
      if (!plain) return true;
      announced_ = true;
      return false;
    }
    const Instruction& instruction = *last.instruction;
    return announced_ && instruction.stores && last.place < what.address + what.extra &&
           what.address < last.place + instruction.bytes;
  }

  bool is_stop(const Stop& stop) {
    if (stop.reason != StopReason::kExited && stop.reason != StopReason::kKilled) return true;
    part_.end = ExecutedPart::End::kRunEnds;
    return false;
  }

  ProgramCode& code_;
  const AccessHistory& history_;
  Clock::time_point deadline_;
  TracedProcess& process_;
  pid_t lwp_;
  std::size_t until_;
  std::vector<std::size_t> entries_;  // the thread's, after the start
  std::size_t next_ = 0;
  bool announced_ = false;
  ExecutedPart part_;
};

}  // namespace

class StepRecorder::Replays {
 public:
  Replays(const std::string& recording, std::uint64_t main, ProgramCode& code, const AccessHistory& history,
          Clock::time_point deadline)
      : timeline_({"/proc/self/exe", recording, "", -1}, core_symbols(find_runtime().core)),
        main_(main),
        code_(code),
        history_(history),
        deadline_(deadline) {}

  ExecutedPart record(ThreadId thread, std::size_t from, std::size_t until) {
    Place place = timeline_.land(1);
    go_to(place, 0, main_, 1);
    if (from != AccessHistory::kNone)
      go_to(place, thread, history_[from].what.pc, history_[from].number);
    else if (thread != 0)
      go_to(place, thread, first_function(thread), 1);
    return Walk(code_, history_, deadline_, place, thread, from, until).run();
  }

 private:
  std::uint64_t first_function(ThreadId thread) {
    std::uint64_t first = 0;
    for (std::size_t i = history_.last_of(thread); i != AccessHistory::kNone; i = history_.before(i))
      if (code_.at(history_[i].what.pc) != nullptr) first = history_[i].what.pc;
    const std::uint64_t start = first == 0 ? 0 : code_.start_of(first);
    REQUIRE(start != 0 && !history_.cut(), "the beginning of the thread was not found");
    return start;
  }

  // Runs until the thread reaches that code for the number-th time.
  void go_to(Place& place, ThreadId thread, std::uint64_t pc, std::uint32_t number) const {
    TracedProcess& process = place.process();
    process.poll = [this] { return Clock::now() >= deadline_; };  // do not wait for a replay forever
    process.breakpoints = {pc};
    while (number > 0) {
      const Stop stop = process.run({}, false);
      REQUIRE(stop.reason != StopReason::kExited && stop.reason != StopReason::kKilled && Clock::now() < deadline_,
              "the replay does not reach the access");
      if (stop.reason != StopReason::kBreakpoint || index_of(process, stop.lwp) != thread) continue;
      place.lwp = stop.lwp;
      number--;
    }
    process.stop_all();
    process.breakpoints.clear();
  }

  Timeline timeline_;
  std::uint64_t main_;
  ProgramCode& code_;
  const AccessHistory& history_;
  Clock::time_point deadline_;
};

StepRecorder::StepRecorder(const std::string& recording, std::uint64_t main, ProgramCode& code,
                           const AccessHistory& history, Clock::time_point deadline)
    : replays_(std::make_unique<Replays>(recording, main, code, history, deadline)) {}

StepRecorder::~StepRecorder() = default;

ExecutedPart StepRecorder::record(ThreadId thread, std::size_t from, std::size_t until) {
  return replays_->record(thread, from, until);
}

}  // namespace reweave

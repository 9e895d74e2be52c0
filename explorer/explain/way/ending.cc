#include "explorer/explain/way/ending.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string_view>

namespace reweave {

namespace {

using InstructionKind = Instruction::Kind;
constexpr std::size_t kNowhere = ~std::size_t{0};
constexpr unsigned kArgumentOrder[] = {kRdi, kRsi, kRdx, kRcx, 8, 9};

bool is_exit(std::string_view name) {
  return name == "exit" || name == "_exit" || name == "_Exit" || name == "quick_exit";
}

class EndFinder {
 public:
  EndFinder(const ExecutedPart& part, ThreadId thread, const RunEnd& end, const AccessHistory& history,
            const CodeView& code)
      : part_(part), steps_(part.steps), thread_(thread), end_(end), history_(history), code_(code) {}

  FailedOperand find() {
    if (end_.outcome == wire::OutcomeKind::kDeadlock) return unknown("threads wait, so no value shows the failure");
    if (part_.end != ExecutedPart::End::kRunEnds || steps_.empty()) return unknown("the end was not reached in time");
    const ExecutedStep& last = steps_.back();
    if (end_.outcome == wire::OutcomeKind::kMemoryError) return use_of_block();
    if (is_fault() && !last.passed_over && (last.instruction->loads || last.instruction->stores)) return fault();
    if (is_fault() && last.passed_over) return argument();
    if (last.instruction->kind == InstructionKind::kPlain && !last.passed_over)
      return unknown("the run ends in code that was not followed");
    if (last.passed_over && is_exit(last.callee)) return status(kRdi);
    if (last.instruction->kind == InstructionKind::kReturn && WIFEXITED(end_.wait_status)) return status(kRax);
    return decision(steps_.size() - 1);
  }

 private:
  static FailedOperand unknown(std::string why) { return {{}, {}, std::move(why)}; }
  bool is_fault() const {
    return WIFSIGNALED(end_.wait_status) &&
           (WTERMSIG(end_.wait_status) == SIGSEGV || WTERMSIG(end_.wait_status) == SIGBUS);
  }
  std::size_t last() const { return steps_.size() - 1; }

  WayStep step(WayStep::Kind kind, std::size_t at) const {
    WayStep result;
    result.kind = kind;
    result.thread = thread_;
    result.pc = steps_[at].instruction->end();
    return result;
  }

  FailedOperand use_of_block() const {
    WayStep use = step(WayStep::Kind::kUses, last());
    if (!steps_[last()].passed_over) return unknown("the use of the block was not found");
    use.value = static_cast<std::int64_t>(steps_[last()].registers[kRdi]);
    use.address = steps_[last()].registers[kRdi];
    return {{use}, sources_of(part_, last(), bit(kRdi), history_), ""};
  }

  FailedOperand fault() const {
    const ExecutedStep& at = steps_[last()];
    WayStep follows = step(WayStep::Kind::kFollows, last());
    follows.value = static_cast<std::int64_t>(at.place);
    return {{follows}, sources_of(part_, last(), at.instruction->address_of, history_), ""};
  }

  // Handles a fault in a function that is not followed. The operand is its first argument, if that is a null pointer.
  FailedOperand argument() const {
    constexpr std::uint64_t kNearNull = 4096;
    std::vector<unsigned> null;
    for (const unsigned argument : kArgumentOrder)
      if (steps_[last()].registers[argument] < kNearNull) null.push_back(argument);
    // Only the first argument is considered, because the registers of arguments that the function does not have may
    // hold anything.
    if (null.empty() || null.front() != kRdi) return unknown("the run ends in a function that is not instrumented");
    WayStep passes = step(WayStep::Kind::kPasses, last());
    passes.object = steps_[last()].callee;
    passes.value = static_cast<std::int64_t>(steps_[last()].registers[kRdi]);
    return {{passes}, sources_of(part_, last(), bit(kRdi), history_), ""};
  }

  FailedOperand status(unsigned register_number) const {
    WayStep ends = step(WayStep::Kind::kEnds, last());
    ends.value = signed_value(steps_[last()].registers[register_number], 4);
    std::vector<ValueSource> sources = sources_of(part_, last(), bit(register_number), history_);
    if (!sources.empty()) return {{ends}, sources, ""};
    // The status is a constant: find the branch that selected it.
    const auto constant = constant_of(part_, last(), bit(register_number), history_);
    FailedOperand decided = constant ? decision(*constant) : unknown("");
    if (!constant || !decided.unknown.empty()) return {{ends}, {}, ""};
    decided.steps.insert(decided.steps.begin(), ends);
    return decided;
  }

  // Returns the operands of the last branch that decided that the thread reached step `end`.
  FailedOperand decision(std::size_t end) const {
    const std::size_t branch = last_branch(end);
    if (branch == kNowhere) return unknown("no branch leads to the end of the run");
    const std::size_t compare = comparison_of(branch);
    if (compare == kNowhere) return unknown("what decides the last branch was not found");
    WayStep compares = step(WayStep::Kind::kCompares, compare);
    add_values(compare, compares);
    return {{compares}, sources_of_operands(part_, compare, history_), ""};
  }

  // Returns the last branch before step `end` that mattered, or kNowhere. Skips branches in functions that have
  // returned since, and branches both sides of which lead to the step.
  std::size_t last_branch(std::size_t end) const {
    std::size_t depth = 0;
    // Addresses of the instructions executed after the branch.
    std::set<std::uint64_t> behind = {steps_[end].instruction->address};
    for (std::size_t i = end; i-- > 0;) {
      const ExecutedStep& step = steps_[i];
      if (step.instruction->kind == InstructionKind::kReturn) depth++;
      if (step.instruction->kind == InstructionKind::kCall && !step.passed_over && depth > 0) depth--;
      if (depth > 0) continue;
      if (step.instruction->kind == InstructionKind::kBranch && !joins(other_side(i), behind)) return i;
      behind.insert(step.instruction->address);
    }
    return kNowhere;
  }
  std::uint64_t other_side(std::size_t branch) const {
    const Instruction& instruction = *steps_[branch].instruction;
    const bool jumped = steps_[branch + 1].instruction->address != instruction.end();
    return jumped ? instruction.end() : instruction.target;
  }
  // True if the code at the address reaches one of `those` without another branch.
  bool joins(std::uint64_t address, const std::set<std::uint64_t>& those) const {
    constexpr std::size_t kMost = 200;
    for (std::size_t i = 0; i < kMost; i++) {
      if (those.contains(address)) return true;
      const Instruction* instruction = code_.at(address);
      if (instruction == nullptr) return false;
      switch (instruction->kind) {
        case InstructionKind::kPlain:
          address = instruction->end();
          break;
        case InstructionKind::kCall:
          if (never_returns(*instruction)) return false;
          address = instruction->end();
          break;
        case InstructionKind::kJump:
          address = instruction->target;
          break;
        default:
          return false;
      }
    }
    return false;
  }
  bool never_returns(const Instruction& call) const {
    constexpr std::string_view kNames[] = {"__assert_fail", "abort",          "__cxa_throw", "__cxa_rethrow",
                                           "longjmp",       "pthread_exit",   "siglongjmp",  "__stack_chk_fail",
                                           "thrd_exit",     "_ZSt9terminatev"};
    const std::string name = code_.callee(call);
    return is_exit(name) || std::ranges::find(kNames, name) != std::end(kNames);
  }

  std::size_t writer_of(std::size_t end, RegisterSet registers) const {
    for (std::size_t i = end; i-- > 0;) {
      if (steps_[i].passed_over) return kNowhere;
      if (steps_[i].instruction->kind != InstructionKind::kPlain) continue;
      if ((steps_[i].instruction->writes & registers) != 0) return i;
    }
    return kNowhere;
  }

  // Returns the instruction that sets the flags for a branch. If that only tests the stored result of an earlier
  // comparison, returns that comparison.
  std::size_t comparison_of(std::size_t branch) const {
    std::size_t found = writer_of(branch, bit(kFlags));
    while (found != kNowhere) {
      const Instruction& instruction = *steps_[found].instruction;
      const bool is_zero_test = (instruction.tests && instruction.to == instruction.from) ||
                                (instruction.compares && instruction.has_constant && instruction.constant == 0);
      if (!is_zero_test || instruction.to >= kGeneralRegisters) break;
      std::size_t maker = writer_of(found, bit(instruction.to));
      const auto only_widens = [&](const Instruction& i) {
        return !i.loads && i.to == i.from && i.to == instruction.to && i.reads == i.writes;
      };
      if (maker != kNowhere && only_widens(*steps_[maker].instruction)) maker = writer_of(maker, bit(instruction.to));
      if (maker == kNowhere || steps_[maker].instruction->reads != bit(kFlags)) break;
      const std::size_t before = writer_of(maker, bit(kFlags));
      if (before == kNowhere) break;
      found = before;
    }
    return found;
  }

  void add_values(std::size_t at, WayStep& compares) const {
    const ExecutedStep& step = steps_[at];
    const Instruction& i = *step.instruction;
    compares.bytes = i.bytes;
    const auto held = [&](unsigned general) { return signed_value(step.registers[general], i.bytes); };
    if (i.tests && i.to < kGeneralRegisters && i.to == i.from) {
      compares.value = held(i.to);
      compares.other = 0;
    }
    if (!i.compares) return;
    std::vector<std::int64_t> operands;
    if (i.to < kGeneralRegisters) operands.push_back(held(i.to));
    if (i.loads && step.loaded) operands.push_back(signed_value(*step.loaded, i.bytes));
    if (i.from < kGeneralRegisters) operands.push_back(held(i.from));
    if (i.has_constant) operands.push_back(signed_value(static_cast<std::uint64_t>(i.constant), i.bytes));
    if (operands.size() != 2) return;
    compares.value = operands[0];
    compares.other = operands[1];
  }

  const ExecutedPart& part_;
  const std::vector<ExecutedStep>& steps_;
  ThreadId thread_;
  const RunEnd& end_;
  const AccessHistory& history_;
  const CodeView& code_;
};

}  // namespace

FailedOperand failed_operand(const ExecutedPart& part, ThreadId thread, const RunEnd& end, const AccessHistory& history,
                             const CodeView& code) {
  return EndFinder(part, thread, end, history, code).find();
}

}  // namespace reweave

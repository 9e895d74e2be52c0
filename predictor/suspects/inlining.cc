// Puts small functions in place of calls of them.
#include <algorithm>
#include <map>
#include <utility>

#include "predictor/suspects/program_summary.h"

namespace reweave {

namespace {

// A function with more steps is not put in place of a call.
constexpr std::size_t kMostSteps = 60;
// A function does not grow beyond this.
constexpr std::size_t kMostInCaller = 20'000;
// The program may grow to four times its size, and by this.
constexpr std::size_t kMoreSteps = 500'000;

class Inliner {
 public:
  explicit Inliner(ProgramSummary& program) : program_(program), states_(program.functions.size()) {
    for (const SummaryFunction& function : program.functions) room_ += 3 * function.steps();
  }

  void run() {
    for (std::uint32_t i = 0; i < program_.functions.size(); i++) visit(i);
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  struct Visit {
    std::uint32_t function;
    std::vector<std::uint32_t> callees;
    std::size_t next = 0;
  };

  std::uint32_t callee_of(const SummaryStep& step) const {
    const bool is_direct = step.op == SummaryOp::kCall && step.first.kind == Operand::Kind::kSymbol;
    return is_direct && step.first.offset == 0 ? program_.symbols[step.first.index].function : kNoNode;
  }

  std::vector<std::uint32_t> callees_of(const SummaryFunction& function) const {
    std::vector<std::uint32_t> found;
    for (const SummaryBlock& block : function.blocks)
      for (const SummaryStep& step : block.steps)
        if (const std::uint32_t callee = callee_of(step); callee != kNoNode) found.push_back(callee);
    return found;
  }

  // Callees come before their callers, so that what is put into a caller is complete. Not recursive, because chains of
  // calls can be long.
  void visit(std::uint32_t root) {
    if (states_[root] != State::kNew) return;
    std::vector<Visit> open;
    const auto begin = [&](std::uint32_t function) {
      states_[function] = State::kOpen;
      open.push_back({function, callees_of(program_.functions[function])});
    };
    begin(root);
    while (!open.empty()) {
      Visit& top = open.back();
      if (top.next < top.callees.size()) {
        const std::uint32_t callee = top.callees[top.next++];
        if (states_[callee] == State::kNew) begin(callee);
        continue;
      }
      expand(program_.functions[top.function]);
      states_[top.function] = State::kDone;
      open.pop_back();
    }
  }

  // A function that is still open calls itself.
  bool is_small(std::uint32_t callee) const {
    return callee != kNoNode && states_[callee] == State::kDone && program_.functions[callee].steps() <= kMostSteps;
  }

  void expand(SummaryFunction& caller) {
    std::size_t size = caller.steps();
    for (std::size_t b = 0; b < caller.blocks.size(); b++)
      for (std::size_t s = 0; s < caller.blocks[b].steps.size(); s++) {
        const std::uint32_t callee = callee_of(caller.blocks[b].steps[s]);
        if (!is_small(callee)) continue;
        const std::size_t more = program_.functions[callee].steps();
        if (size + more > kMostInCaller || more > room_) continue;
        size += more;
        room_ -= more;
        put(caller, b, s, program_.functions[callee]);
        break;  // the rest of the block is a block of its own now
      }
  }

  // The place `inner` of the callee, as it is when called at `call`.
  std::uint32_t place_under(std::uint32_t inner, std::uint32_t call) {
    const auto known = places_.find({inner, call});
    if (known != places_.end()) return known->second;
    SummaryPlace place = program_.places[inner];
    place.outer = (place.outer == 0 ? call : place_under(place.outer - 1, call)) + 1;
    program_.places.push_back(place);
    return places_[{inner, call}] = static_cast<std::uint32_t>(program_.places.size() - 1);
  }

  static SummaryStep copy_step(std::uint32_t to, const Operand& from) {
    SummaryStep step = {};
    step.op = SummaryOp::kCopy;
    step.node = to;
    step.first = from;
    return step;
  }

  // A step of the callee as a step of the caller. A return becomes a copy of the result.
  SummaryStep moved(SummaryStep step, const SummaryStep& call, std::uint32_t first_node) {
    const auto move = [&](Operand& operand) {
      if (operand.kind == Operand::Kind::kNode) operand.index += first_node;
    };
    move(step.first);
    move(step.second);
    for (Operand& argument : step.arguments) move(argument);
    if (step.op == SummaryOp::kReturn) return copy_step(call.node, step.first);
    if (step.node != kNoNode) step.node += first_node;
    if (!passes_pointer(step.op)) step.place = place_under(step.place, call.place);
    return step;
  }

  void put(SummaryFunction& caller, std::size_t at_block, std::size_t at_step, const SummaryFunction& callee) {
    const auto first_block = static_cast<std::uint32_t>(caller.blocks.size()),
               rest = static_cast<std::uint32_t>(first_block + callee.blocks.size()), first_node = caller.nodes;
    caller.nodes += callee.nodes;
    SummaryBlock& before = caller.blocks[at_block];
    const SummaryStep call = before.steps[at_step];
    SummaryBlock after;
    after.next = before.next;
    after.steps.assign(before.steps.begin() + static_cast<std::ptrdiff_t>(at_step) + 1, before.steps.end());
    before.next = {first_block};
    before.steps.resize(at_step);
    for (std::uint32_t i = 0; i < callee.parameters && i < call.arguments.size(); i++)
      if (call.arguments[i].kind != Operand::Kind::kNothing)
        before.steps.push_back(copy_step(first_node + i, call.arguments[i]));
    for (const SummaryBlock& inner : callee.blocks) {
      SummaryBlock block;
      for (const std::uint32_t next : inner.next) block.next.push_back(first_block + next);
      for (const SummaryStep& step : inner.steps) {
        const bool returns = step.op == SummaryOp::kReturn;
        if (returns) block.next.push_back(rest);
        if (!returns || (call.node != kNoNode && step.first.kind != Operand::Kind::kNothing))
          block.steps.push_back(moved(step, call, first_node));
      }
      caller.blocks.push_back(std::move(block));
    }
    caller.blocks.push_back(std::move(after));
  }

  ProgramSummary& program_;
  std::vector<State> states_;
  std::size_t room_ = kMoreSteps;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> places_;
};

}  // namespace

void inline_small_functions(ProgramSummary& program) { Inliner(program).run(); }

}  // namespace reweave

#include "predictor/suspects/thread_walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "predictor/suspects/known_calls.h"
#include "predictor/suspects/object_names.h"

namespace reweave {

namespace {

// In how many states a function is walked for one kind of thread; in more, it is walked without locks.
constexpr std::uint32_t kMostStates = 48;

// Returns the state where two ways meet.
WalkState met(const WalkState& a, const WalkState& b) {
  WalkState both;
  std::ranges::set_intersection(a.locks, b.locks, std::inserter(both.locks, both.locks.end()));
  std::ranges::set_union(a.alive, b.alive, std::inserter(both.alive, both.alive.end()));
  std::ranges::set_union(a.barriers, b.barriers, std::inserter(both.barriers, both.barriers.end()));
  std::ranges::set_intersection(a.fresh, b.fresh, std::inserter(both.fresh, both.fresh.end()));
  std::ranges::set_union(a.counted, b.counted, std::inserter(both.counted, both.counted.end()));
  both.in_once = a.in_once && b.in_once;
  both.caller = a.caller;
  return both;
}

KnownFunction known_callee(const ProgramSummary& program, const SummaryStep& step) {
  if (step.op != SummaryOp::kCall || step.first.kind != Operand::Kind::kSymbol) return {};
  const SummarySymbol& symbol = program.symbols[step.first.index];
  return symbol.function == kNoNode ? known_function(symbol.name) : KnownFunction{};
}

// The block, and those that follow it without a choice.
std::set<std::uint32_t> chain_from(const SummaryFunction& function, std::uint32_t block) {
  std::set<std::uint32_t> chain = {block};
  while (function.blocks[block].next.size() == 1 && chain.insert(function.blocks[block].next.front()).second)
    block = function.blocks[block].next.front();
  return chain;
}

bool overlap(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
  return std::ranges::any_of(a, [&](std::uint32_t block) { return b.contains(block); });
}

using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// The edges by which a loop is left, or passed by: the optimiser may test before the loop whether to enter it.
Edges exits_of(const SummaryFunction& function, const std::set<std::uint32_t>& loop) {
  Edges exits;
  std::set<std::uint32_t> behind;
  for (const std::uint32_t block : loop)
    for (const std::uint32_t next : function.blocks[block].next) {
      if (loop.contains(next)) continue;
      exits.insert({block, next});
      behind.merge(chain_from(function, next));
    }
  for (std::uint32_t block = 0; block < function.blocks.size(); block++) {
    const std::vector<std::uint32_t>& next = function.blocks[block].next;
    const auto enters = [&](std::uint32_t to) { return overlap(chain_from(function, to), loop); };
    if (loop.contains(block) || next.size() < 2 || std::ranges::none_of(next, enters)) continue;
    for (const std::uint32_t to : next)
      if (!enters(to) && overlap(chain_from(function, to), behind)) exits.insert({block, to});
  }
  return exits;
}

}  // namespace

bool PossibleLock::may_be(const std::vector<CellId>& others) const {
  return std::ranges::any_of(cells, [&](CellId cell) { return std::ranges::binary_search(others, cell); });
}

ThreadWalk::ThreadWalk(const ProgramSummary& program, const PointsTo& points_to)
    : program_(program), points_to_(points_to), elements_(program) {
  for (std::uint32_t i = 0; i < points_to.starts().size(); i++) start_of_step_[points_to.starts()[i].step] = i;
  find_kinds();
  functions_.resize(kinds_.size());
  for (walking_ = 0; walking_ < kinds_.size(); walking_++) {
    walked_.clear();
    states_of_function_.clear();
    WalkState first;
    first.barriers = {0};
    StateId state = intern(std::move(first));
    if (kinds_[walking_].function != kNoNode) {
      walk(kinds_[walking_].function, state);
      continue;
    }
    for (const SummarySymbol& symbol : program_.symbols) {
      if (symbol.name != "llvm.global_ctors") continue;
      for (const SummarySymbol::Pointer& pointer : symbol.pointers)
        if (const std::uint32_t function = program_.symbols[pointer.symbol].function; function != kNoNode)
          state = walk(function, state);
    }
    for (const SummarySymbol& symbol : program_.symbols)
      if (symbol.name == "main" && symbol.function != kNoNode) walk(symbol.function, state);
  }
  close_over_starts();
}

void ThreadWalk::find_kinds() {
  kinds_.emplace_back();  // the first thread
  for (std::uint32_t i = 0; i < points_to_.starts().size(); i++) {
    for (const std::uint32_t function : points_to_.entries(points_to_.starts()[i]))
      kinds_[kind_of(function)].starts.insert(i);
    note_own_objects(i);
  }
}

// True if all of its code comes from headers of libraries.
bool ThreadWalk::is_library_function(std::uint32_t number) const {
  for (const SummaryBlock& block : program_.functions[number].blocks)
    for (const SummaryStep& step : block.steps) {
      const bool has_place = step.op == SummaryOp::kLoad || step.op == SummaryOp::kStore || step.op == SummaryOp::kCall;
      if (!has_place) continue;
      std::uint32_t outermost = step.place;
      while (program_.places[outermost].outer != 0) outermost = program_.places[outermost].outer - 1;
      return !is_user_file(program_.places[outermost].file);
    }
  return false;
}

std::uint32_t ThreadWalk::kind_of(std::uint32_t function) {
  const auto [known, is_new] = kind_of_function_.try_emplace(function, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.emplace_back().function = function;
  return known->second;
}

// If threads are started in a loop, and what they receive is an element with a varying index or a block made in the
// same loop, each thread has its own.
void ThreadWalk::note_own_objects(std::uint32_t number) {
  const ThreadStart& start = points_to_.starts()[number];
  const SummaryFunction& function = program_.functions[start.function];
  const Flow& flow = flow_of(start.function);
  std::set<std::uint32_t> sources;  // nodes from which the threads' arguments come, in the same object
  bool is_element = false;
  std::uint32_t start_loop = 0;
  for (const Operand& given : start.given)
    if (given.kind == Operand::Kind::kNode) sources.insert(given.index);
  for (bool grows = true; grows;) {
    grows = false;
    for (const SummaryBlock& block : function.blocks)
      for (const SummaryStep& step : block.steps) {
        if (!passes_pointer(step.op) || !sources.contains(step.node)) continue;
        is_element = is_element || step.op == SummaryOp::kElement;
        if (step.first.kind == Operand::Kind::kNode) grows = sources.insert(step.first.index).second || grows;
      }
  }
  std::set<std::uint32_t> made_in_loop;
  std::set<const SummaryStep*> loop;
  for (std::size_t b = 0; b < function.blocks.size(); b++)
    for (const SummaryStep& step : function.blocks[b].steps)
      if (&step == start.step) start_loop = flow.cycles.cycle[b];
  for (std::size_t b = 0; b < function.blocks.size(); b++)
    for (const SummaryStep& step : function.blocks[b].steps)
      if (flow.cycles.cycle[b] != 0 && flow.cycles.cycle[b] == start_loop) {
        loop.insert(&step);
        if (const auto object = points_to_.object_of(step)) made_in_loop.insert(*object);
      }
  std::set<std::uint32_t> own, handed_over;
  for (const Operand& given : start.given)
    for (const CellId cell : points_to_.targets(start.function, given)) {
      const std::uint32_t object = points_to_.cell(cell).object;
      if (is_element || made_in_loop.contains(object)) own.insert(object);
      if (known_callee(program_, *start.step).call != KnownCall::kStartsObject) continue;
      for (const CellId inner : points_to_.contents(cell)) handed_over.insert(points_to_.cell(inner).object);
    }
  for (const std::uint32_t entry : points_to_.entries(start)) {
    ThreadKind& kind = kinds_[kind_of(entry)];
    kind.objects_of_its_own.insert(own.begin(), own.end());
    kind.objects_of_its_own.insert(handed_over.begin(), handed_over.end());
    kind.handed_over.insert(handed_over.begin(), handed_over.end());
    kind.made_beside.insert(made_in_loop.begin(), made_in_loop.end());
    kind.start_loops.insert(loop.begin(), loop.end());
  }
}

const ThreadWalk::Flow& ThreadWalk::flow_of(std::uint32_t number) {
  const auto [known, is_new] = flows_.try_emplace(number);
  if (!is_new) return known->second;
  Flow& flow = known->second;
  const SummaryFunction& function = program_.functions[number];
  flow.cycles = cycles_of(function);
  for (std::uint32_t b = 0; b < function.blocks.size(); b++)
    for (const SummaryStep& step : function.blocks[b].steps) {
      const KnownCall call = known_callee(program_, step).call;
      if (flow.cycles.cycle[b] == 0 || (call != KnownCall::kJoins && call != KnownCall::kJoinsObject)) continue;
      flow.joins.push_back({&step, exits_of(function, innermost_cycle(function, flow.cycles, b))});
    }
  return flow;
}

ThreadWalk::StateId ThreadWalk::intern(WalkState state) {
  const auto [known, is_new] = state_ids_.try_emplace(state, static_cast<StateId>(states_.size()));
  if (is_new) states_.push_back(std::move(state));
  return known->second;
}

ThreadWalk::StateId ThreadWalk::walk(std::uint32_t number, StateId from) {
  if (!walked_.contains({number, from}) && ++states_of_function_[number] > kMostStates) {
    merged_states_++;
    WalkState without = states_[from];
    without.locks.clear();
    without.barriers = {0};
    from = intern(std::move(without));
  }
  const auto [known, is_new] = walked_.try_emplace({number, from}, Walked{from, true});
  if (!is_new) return known->second.end;  // of a recursive call: as if it changed nothing
  functions_[walking_].insert(number);
  const SummaryFunction& function = program_.functions[number];
  const Flow& flow = flow_of(number);
  std::vector<std::optional<WalkState>> before(function.blocks.size());
  before[0] = states_[from];
  std::optional<WalkState> end;
  // Until nothing changes; sets of locks only shrink, the others only grow.
  for (bool changes = true; changes;) {
    changes = false;
    end.reset();
    for (const std::uint32_t block : flow.cycles.order) {
      if (!before[block]) continue;
      WalkState state = *before[block];
      for (const SummaryStep& step : function.blocks[block].steps) {
        step_through(number, step, state, false);
        if (step.op == SummaryOp::kReturn) end = end ? met(*end, state) : state;
      }
      for (const std::uint32_t next : function.blocks[block].next) {
        WalkState arriving = state;
        // A loop that waits for threads is taken to wait for all that were started.
        for (const Flow::Join& each : flow.joins)
          if (each.exits.contains({block, next})) join(number, *each.step, arriving);
        WalkState merged = before[next] ? met(*before[next], arriving) : arriving;
        if (before[next] && *before[next] == merged) continue;
        before[next] = std::move(merged);
        changes = true;
      }
    }
  }
  for (const std::uint32_t block : flow.cycles.order) {
    if (!before[block]) continue;
    WalkState state = *before[block];
    for (const SummaryStep& step : function.blocks[block].steps) step_through(number, step, state, true);
  }
  const StateId last = end ? intern(*end) : from;
  walked_[{number, from}] = {last, false};
  return last;
}

void ThreadWalk::step_through(std::uint32_t function, const SummaryStep& step, WalkState& state, bool notes) {
  const bool is_access = step.op == SummaryOp::kLoad || step.op == SummaryOp::kStore ||
                         step.op == SummaryOp::kCopyBlock || step.op == SummaryOp::kSetBlock;
  if (notes && known_callee(program_, step).call == KnownCall::kFrees)
    facts_.push_back({&step, function, false, walking_, intern(state)});
  if (step.op == SummaryOp::kCall) {
    for (const Operand& argument : step.arguments) show(function, argument, state);
    call(function, step, state);
    if (const auto made = points_to_.object_of(step)) state.fresh.insert(*made);
    return;
  }
  if (step.op == SummaryOp::kStore) {
    show(function, step.second, state);
    if ((step.flags & kUpdateAccess) != 0)
      for (const CellId cell : points_to_.targets(function, step.first))
        state.counted.insert(points_to_.cell(cell).object);
  }
  if (!is_access || !notes || (step.flags & kPrivateAccess) != 0 || is_of_fresh(function, step, state)) return;
  const StateId at = intern(state);
  facts_.push_back({&step, function, false, walking_, at});
  if (step.op == SummaryOp::kCopyBlock) facts_.push_back({&step, function, true, walking_, at});
}

// Whom a value is given to may show it to others.
void ThreadWalk::show(std::uint32_t function, const Operand& value, WalkState& state) const {
  if (state.fresh.empty()) return;
  for (const CellId cell : points_to_.targets(function, value)) state.fresh.erase(points_to_.cell(cell).object);
}

bool ThreadWalk::is_of_fresh(std::uint32_t function, const SummaryStep& step, const WalkState& state) const {
  const SummaryStep* maker = state.fresh.empty() ? nullptr : elements_.maker_of(function, step.first);
  const auto made = maker == nullptr ? std::nullopt : points_to_.object_of(*maker);
  return made && state.fresh.contains(*made);
}

void ThreadWalk::call(std::uint32_t function, const SummaryStep& step, WalkState& state) {
  const KnownFunction known = known_callee(program_, step);
  const Operand it = known.argument < step.arguments.size() ? step.arguments[known.argument] : Operand{};
  switch (known.call) {
    case KnownCall::kLocks:
      return lock(function, it, false, state);
    case KnownCall::kLocksShared:
      return lock(function, it, true, state);
    case KnownCall::kUnlocks:
      return unlock(function, it, state);
    case KnownCall::kStartsThread:
    case KnownCall::kStartsObject:
    case KnownCall::kStartsTeam:
      return start(step, state);
    case KnownCall::kJoins:
    case KnownCall::kJoinsObject:
      return join(function, step, state);
    case KnownCall::kBarrier:
      state.barriers = {step.place + 1};
      return;
    default:
      break;
  }
  const bool once = known.call == KnownCall::kOnce;
  const std::optional<std::uint32_t> user = user_place(program_, step.place);
  std::optional<WalkState> after;
  for (const std::uint32_t callee : points_to_.callees(function, step)) {
    WalkState before = state;
    before.in_once = before.in_once || once;
    before.fresh.clear();
    if (!is_library_function(callee))
      before.caller = 0;
    else if (user)
      before.caller = *user + 1;
    WalkState end = states_[walk(callee, intern(std::move(before)))];
    end.in_once = state.in_once;
    end.fresh = state.fresh;
    end.caller = state.caller;
    after = after ? met(*after, end) : end;
  }
  if (after) state = std::move(*after);
}

void ThreadWalk::start(const SummaryStep& step, WalkState& state) {
  const auto number = start_of_step_.find(&step);
  if (number == start_of_step_.end()) return;
  const bool is_team = known_callee(program_, step).call == KnownCall::kStartsTeam;
  for (const std::uint32_t entry : points_to_.entries(points_to_.starts()[number->second])) {
    const std::uint32_t kind = kind_of(entry);
    for (const std::uint32_t other : state.alive) {
      kinds_[kind].beside.insert(other);
      kinds_[other].beside.insert(kind);
    }
    kinds_[walking_].made.insert(kind);
    if (is_team)
      kinds_[kind].beside.insert(kind);
    else
      state.alive.insert(kind);
  }
}

void ThreadWalk::join(std::uint32_t function, const SummaryStep& step, WalkState& state) const {
  if (step.arguments.empty()) return;
  std::vector<CellId> threads = points_to_.targets(function, step.arguments[0]);
  if (known_callee(program_, step).call == KnownCall::kJoinsObject) {
    std::set<CellId> named;
    for (const CellId cell : threads) named.insert(points_to_.contents(cell).begin(), points_to_.contents(cell).end());
    threads.assign(named.begin(), named.end());
  }
  for (std::uint32_t i = 0; i < points_to_.starts().size(); i++) {
    const ThreadStart& started = points_to_.starts()[i];
    const bool is_it =
        std::ranges::any_of(threads, [&](CellId cell) { return points_to_.cell(cell).object == started.object; });
    if (!is_it) continue;
    std::erase_if(state.alive, [&](std::uint32_t kind) { return kinds_[kind].starts.contains(i); });
  }
}

void ThreadWalk::lock(std::uint32_t function, const Operand& operand, bool shared, WalkState& state) const {
  PossibleLock held = {points_to_.targets(function, operand), shared};
  if (const auto index = elements_.index_of(function, operand)) held.element.emplace(function, *index);
  const SummaryStep* maker = elements_.maker_of(function, operand);
  if (maker != nullptr && maker->op == SummaryOp::kLoad && maker->first.kind == Operand::Kind::kSymbol)
    held.variable.emplace(maker->first.index, maker->first.offset);
  if (!held.cells.empty()) state.locks.insert(std::move(held));
}

void ThreadWalk::unlock(std::uint32_t function, const Operand& operand, WalkState& state) const {
  const std::vector<CellId> cells = points_to_.targets(function, operand);
  // The same lock, or if none is the same, all that it could be.
  const bool is_known = std::erase_if(state.locks, [&](const PossibleLock& held) { return held.cells == cells; }) > 0;
  if (!is_known) std::erase_if(state.locks, [&](const PossibleLock& held) { return held.may_be(cells); });
}

// Kinds of threads that run beside another one run beside those that the other one starts.
void ThreadWalk::close_over_starts() {
  for (bool changes = true; changes;) {
    changes = false;
    const auto add = [&](std::set<std::uint32_t>& to, std::uint32_t kind) {
      changes = to.insert(kind).second || changes;
    };
    for (std::uint32_t i = 0; i < kinds_.size(); i++) {
      for (const std::uint32_t made : std::set<std::uint32_t>(kinds_[i].made))
        for (const std::uint32_t more : std::set<std::uint32_t>(kinds_[made].made)) add(kinds_[i].made, more);
      for (const std::uint32_t beside : std::set<std::uint32_t>(kinds_[i].beside))
        for (const std::uint32_t made : std::set<std::uint32_t>(kinds_[beside].made)) {
          add(kinds_[i].beside, made);
          add(kinds_[made].beside, i);
        }
    }
  }
}

}  // namespace reweave

#include "predictor/suspects/points_to.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "predictor/suspects/components.h"
#include "predictor/suspects/known_calls.h"

namespace reweave {

namespace {

// The most cells of an object, and of one whose size is not known. Further offsets are taken for 0.
constexpr std::size_t kMostCells = 512, kMostInBlock = 64;
constexpr std::int64_t kFarthest = 1 << 20;
// The number of nodes that are passed on before cycles of copies are merged again.
constexpr std::uint64_t kMergeAfter = 200'000;

template <typename T>
bool insert_sorted(std::vector<T>& to, const T& value) {
  const auto at = std::ranges::lower_bound(to, value);
  if (at != to.end() && *at == value) return false;
  to.insert(at, value);
  return true;
}

const std::vector<CellId> kNothing;

}  // namespace

PointsTo::PointsTo(const ProgramSummary& program) : program_(program) {
  for (const SummaryFunction& function : program.functions) {
    first_nodes_.push_back(static_cast<NodeId>(nodes_.size()));
    nodes_.resize(nodes_.size() + function.nodes);
  }
  for (NodeId node = 0; node < nodes_.size(); node++) parents_.push_back(node);
  for (std::size_t i = 0; i < program.functions.size(); i++) returns_.push_back(new_node());
  add_symbols();
  for (std::uint32_t i = 0; i < program.functions.size(); i++) add_function(i);
  ignore_growing_offsets();
  merge_cycles();
  solve();
}

PointsTo::NodeId PointsTo::new_node() {
  nodes_.emplace_back();
  parents_.push_back(static_cast<NodeId>(nodes_.size() - 1));
  return parents_.back();
}

PointsTo::NodeId PointsTo::find(NodeId node) const {
  while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
  return node;
}

CellId PointsTo::cell_at(std::uint32_t object, std::int64_t offset) {
  MemoryObject& of = objects_[object];
  const bool is_inside =
      offset >= 0 && offset < kFarthest && (of.bytes == 0 || static_cast<std::uint64_t>(offset) < of.bytes);
  const std::uint64_t at = is_inside ? static_cast<std::uint64_t>(offset) : 0;
  const auto known = of.cells.find(at);
  if (known != of.cells.end()) return known->second;
  if (at != 0 && of.cells.size() >= (of.bytes == 0 ? kMostInBlock : kMostCells)) return cell_at(object, 0);
  const auto cell = static_cast<CellId>(cells_.size());
  of.cells[at] = cell;
  cells_.push_back({object, at});
  cell_nodes_.push_back(new_node());
  return cell;
}

std::uint32_t PointsTo::make_object(const SummaryStep& step, std::uint32_t function, MemoryObject::Kind kind,
                                    std::uint64_t bytes) {
  const auto object = static_cast<std::uint32_t>(objects_.size());
  objects_.push_back({kind, 0, function, step.place, bytes});
  step_objects_[&step] = object;
  return object;
}

std::optional<std::uint32_t> PointsTo::object_of(const SummaryStep& step) const {
  const auto found = step_objects_.find(&step);
  return found == step_objects_.end() ? std::nullopt : std::optional(found->second);
}

void PointsTo::add_symbols() {
  for (std::uint32_t i = 0; i < program_.symbols.size(); i++) {
    const SummarySymbol& symbol = program_.symbols[i];
    const bool is_function = (symbol.flags & kFunctionSymbol) != 0;
    symbol_objects_.push_back(static_cast<std::uint32_t>(objects_.size()));
    objects_.push_back({is_function ? MemoryObject::Kind::kFunction : MemoryObject::Kind::kVariable, i, 0, 0,
                        is_function ? 1 : symbol.bytes});
  }
  for (std::uint32_t i = 0; i < program_.symbols.size(); i++)
    for (const SummarySymbol::Pointer& pointer : program_.symbols[i].pointers) {
      const CellId at = cell_at(symbol_objects_[i], static_cast<std::int64_t>(pointer.at));
      add_target(node_of_cell(at), cell_at(symbol_objects_[pointer.symbol], pointer.offset));
    }
}

PointsTo::NodeId PointsTo::node_of(std::uint32_t function, const Operand& operand) {
  if (operand.kind == Operand::Kind::kNothing) return kNoNode;
  if (operand.kind == Operand::Kind::kNode) return first_nodes_[function] + operand.index;
  const auto [known, is_new] = address_nodes_.try_emplace({operand.index, operand.offset}, kNoNode);
  if (!is_new) return known->second;
  const NodeId node = new_node();
  known->second = node;
  add_target(node, cell_at(symbol_objects_[operand.index], operand.offset));
  return node;
}

PointsTo::NodeId PointsTo::result_of(std::uint32_t function, const SummaryStep& step) {
  return step.node == kNoNode ? kNoNode : first_nodes_[function] + step.node;
}

void PointsTo::add_function(std::uint32_t function) {
  for (const SummaryBlock& block : program_.functions[function].blocks)
    for (const SummaryStep& step : block.steps) add_step(function, step);
}

PointsTo::NodeId PointsTo::loaded(NodeId from) {
  const NodeId to = new_node();
  nodes_[from].loads.push_back(to);
  return to;
}

void PointsTo::add_step(std::uint32_t function, const SummaryStep& step) {
  const NodeId to = result_of(function, step), first = node_of(function, step.first);
  switch (step.op) {
    case SummaryOp::kStackObject:
      add_target(to, cell_at(make_object(step, function, MemoryObject::Kind::kStack, step.bytes), 0));
      return;
    case SummaryOp::kCall:
      add_call(function, step);
      return;
    case SummaryOp::kSetBlock:
      return;
    default:
      break;
  }
  if (first == kNoNode) return;
  switch (step.op) {
    case SummaryOp::kCopy:
      return add_copy(first, to);
    case SummaryOp::kField:
    case SummaryOp::kElement:
      if (step.offset == 0) return add_copy(first, to);
      nodes_[first].fields.push_back({to, step.offset});
      return;
    case SummaryOp::kLoad:
      if (to != kNoNode) nodes_[first].loads.push_back(to);
      return;
    case SummaryOp::kStore:
      if (const NodeId value = node_of(function, step.second); value != kNoNode) nodes_[first].stores.push_back(value);
      return;
    case SummaryOp::kReturn:
      return add_copy(first, returns_[function]);
    case SummaryOp::kCopyBlock:
      if (const NodeId source = node_of(function, step.second); source != kNoNode) {
        nodes_[first].blocks.push_back({source, false});
        nodes_[source].blocks.push_back({first, true});
      }
      return;
    default:
      return;
  }
}

void PointsTo::add_call(std::uint32_t function, const SummaryStep& step) {
  if (step.first.kind == Operand::Kind::kSymbol) {
    const SummarySymbol& symbol = program_.symbols[step.first.index];
    if (symbol.function == kNoNode && add_known_call(function, step, symbol.name)) return;
  }
  const NodeId callee = node_of(function, step.first);
  if (callee == kNoNode) return;
  Call call = {result_of(function, step), {}};
  for (const Operand& argument : step.arguments) call.arguments.push_back(node_of(function, argument));
  add_callee(callee, std::move(call));
}

// Adds what a function of a library does. False if it is not known.
bool PointsTo::add_known_call(std::uint32_t function, const SummaryStep& step, const std::string& name) {
  const KnownFunction known = known_function(name);
  const auto argument = [&](std::size_t index) {
    return index < step.arguments.size() ? node_of(function, step.arguments[index]) : kNoNode;
  };
  const NodeId to = result_of(function, step), it = argument(known.argument);
  switch (known.call) {
    case KnownCall::kAllocates: {
      const CellId block = cell_at(make_object(step, function, MemoryObject::Kind::kHeap, 0), 0);
      if (to != kNoNode) add_target(to, block);
      if (name.starts_with("realloc") && it != kNoNode && to != kNoNode) add_copy(it, to);
      return true;
    }
    case KnownCall::kAllocatesAt: {
      const NodeId made = new_node();
      add_target(made, cell_at(make_object(step, function, MemoryObject::Kind::kHeap, 0), 0));
      if (it != kNoNode) nodes_[it].stores.push_back(made);
      return true;
    }
    case KnownCall::kCopies:
      if (const NodeId source = argument(1); it != kNoNode && source != kNoNode) {
        nodes_[it].blocks.push_back({source, false});
        nodes_[source].blocks.push_back({it, true});
      }
      [[fallthrough]];
    case KnownCall::kReturnsIt:
      if (it != kNoNode && to != kNoNode) add_copy(it, to);
      return true;
    case KnownCall::kStartsThread:
      if (it != kNoNode && step.arguments.size() > known.argument + 1u)
        add_start(function, step, it, {step.arguments[known.argument + 1]}, {argument(known.argument + 1)});
      return true;
    case KnownCall::kStartsObject: {
      if (it == kNoNode) return true;
      constexpr std::int64_t kRunSlot = 16;  // after two destructors
      const NodeId object = loaded(it), table = loaded(object), slot = new_node();
      nodes_[table].fields.push_back({slot, kRunSlot});
      add_start(function, step, loaded(slot), {step.arguments[1]}, {object});
      return true;
    }
    case KnownCall::kStartsTeam: {
      std::vector<NodeId> arguments = {kNoNode, kNoNode};
      std::vector<Operand> given;
      for (std::size_t i = known.argument + 1u; i < step.arguments.size(); i++) {
        arguments.push_back(argument(i));
        given.push_back(step.arguments[i]);
      }
      if (it != kNoNode) add_start(function, step, it, given, arguments);
      return true;
    }
    case KnownCall::kOnce:
    case KnownCall::kCallsBack:
      if (it != kNoNode) add_callee(it, {kNoNode, {argument(0), argument(0)}});
      return true;
    default:
      return known.call != KnownCall::kUnknown;
  }
}

void PointsTo::add_start(std::uint32_t function, const SummaryStep& step, NodeId entry, std::vector<Operand> given,
                         std::vector<NodeId> arguments) {
  const std::uint32_t object = make_object(step, function, MemoryObject::Kind::kThread, 8);
  const NodeId thread = new_node();
  add_target(thread, cell_at(object, 0));
  const bool is_named = !step.arguments.empty() && arguments.size() == 1;  // a team has no name
  if (const NodeId name = is_named ? node_of(function, step.arguments[0]) : kNoNode; name != kNoNode)
    nodes_[name].stores.push_back(thread);
  starts_.push_back({function, &step, object, entry, std::move(given)});
  add_callee(entry, {kNoNode, std::move(arguments)});
}

void PointsTo::add_callee(NodeId callee, Call call) {
  nodes_[callee].calls.push_back(static_cast<std::uint32_t>(calls_.size()));
  calls_.push_back(std::move(call));
}

void PointsTo::bind(const Call& call, std::uint32_t callee) {
  const SummaryFunction& function = program_.functions[callee];
  for (std::uint32_t i = 0; i < function.parameters && i < call.arguments.size(); i++)
    if (call.arguments[i] != kNoNode) add_copy(call.arguments[i], first_nodes_[callee] + i);
  if (call.result != kNoNode) add_copy(returns_[callee], call.result);
}

void PointsTo::wait(NodeId node) {
  if (std::exchange(nodes_[node].is_waiting, true)) return;
  waiting_.push_back(node);
}

void PointsTo::add_target(NodeId node, CellId cell) {
  node = find(node);
  if (insert_sorted(nodes_[node].targets, cell)) {
    insert_sorted(nodes_[node].fresh, cell);
    wait(node);
  }
}

void PointsTo::take(NodeId to, const std::vector<CellId>& cells) {
  to = find(to);
  std::vector<CellId> added;
  std::ranges::set_difference(cells, nodes_[to].targets, std::back_inserter(added));
  if (added.empty()) return;
  const auto unite = [&](std::vector<CellId>& into) {
    std::vector<CellId> all;
    all.reserve(into.size() + added.size());
    std::ranges::set_union(into, added, std::back_inserter(all));
    into = std::move(all);
  };
  unite(nodes_[to].targets);
  unite(nodes_[to].fresh);
  wait(to);
}

void PointsTo::add_copy(NodeId from, NodeId to) {
  from = find(from), to = find(to);
  if (from == to || !insert_sorted(nodes_[from].copies, to)) return;
  take(to, nodes_[from].targets);
}

void PointsTo::copy_block(CellId to, CellId from) {
  const MemoryCell source = cells_[from], target = cells_[to];
  const std::map<std::uint64_t, CellId> cells = objects_[source.object].cells;
  for (auto at = cells.lower_bound(source.offset); at != cells.end(); ++at)
    add_copy(
        node_of_cell(at->second),
        node_of_cell(cell_at(target.object, static_cast<std::int64_t>(target.offset + at->first - source.offset))));
}

// Passes the fresh targets of a node on to all nodes that depend on it.
void PointsTo::pass_on(NodeId node) {
  const std::vector<CellId> fresh = std::exchange(nodes_[node].fresh, {});
  // Copies of the lists, because nodes_ may grow.
  for (const NodeId to : std::vector<NodeId>(nodes_[node].copies)) take(to, fresh);
  for (const NodeId to : std::vector<NodeId>(nodes_[node].loads))
    for (const CellId cell : fresh) add_copy(node_of_cell(cell), to);
  for (const NodeId from : std::vector<NodeId>(nodes_[node].stores))
    for (const CellId cell : fresh) add_copy(from, node_of_cell(cell));
  for (const Node::Field& field : std::vector<Node::Field>(nodes_[node].fields)) {
    std::vector<CellId> moved;
    for (const CellId cell : fresh) {
      const MemoryCell of = cells_[cell];
      if (objects_[of.object].kind != MemoryObject::Kind::kFunction)
        insert_sorted(moved, cell_at(of.object, static_cast<std::int64_t>(of.offset) + field.offset));
    }
    take(field.to, moved);
  }
  for (const Node::Block& block : std::vector<Node::Block>(nodes_[node].blocks)) {
    const std::vector<CellId> others = nodes_[find(block.other)].targets;
    for (const CellId cell : fresh)
      for (const CellId other : others) block.is_source ? copy_block(other, cell) : copy_block(cell, other);
  }
  for (const std::uint32_t call : std::vector<std::uint32_t>(nodes_[node].calls))
    for (const CellId cell : fresh) {
      const MemoryObject& called = objects_[cells_[cell].object];
      if (called.kind != MemoryObject::Kind::kFunction) continue;
      const std::uint32_t callee = program_.symbols[called.symbol].function;
      if (callee != kNoNode) bind(calls_[call], callee);
    }
}

void PointsTo::solve() {
  std::uint64_t passed = 0;
  // Blocks are copied cell by cell, and cells may appear after the copy: until nothing changes.
  while (!waiting_.empty()) {
    const NodeId node = waiting_.front();
    waiting_.pop_front();
    nodes_[node].is_waiting = false;
    if (find(node) != node || nodes_[node].fresh.empty()) continue;
    pass_on(node);
    if (++passed % kMergeAfter == 0) merge_cycles();
    if (!waiting_.empty()) continue;
    for (NodeId each = 0; each < nodes_.size(); each++) {
      if (find(each) != each) continue;
      for (const Node::Block& block : std::vector<Node::Block>(nodes_[each].blocks)) {
        if (block.is_source) continue;
        const std::vector<CellId> to = nodes_[each].targets, from = nodes_[find(block.other)].targets;
        for (const CellId target : to)
          for (const CellId source : from) copy_block(target, source);
      }
    }
  }
}

void PointsTo::merge(NodeId into, NodeId from) {
  Node old = std::exchange(nodes_[from], Node());
  parents_[from] = into;
  Node& to = nodes_[into];
  const auto append = [](auto& list, const auto& more) { list.insert(list.end(), more.begin(), more.end()); };
  append(to.loads, old.loads);
  append(to.stores, old.stores);
  append(to.fields, old.fields);
  append(to.blocks, old.blocks);
  append(to.calls, old.calls);
  for (const NodeId each : old.copies) insert_sorted(to.copies, each);
  for (const CellId cell : old.targets) insert_sorted(to.targets, cell);
  to.fresh = to.targets;  // each list has grown, so all must be passed on again
  wait(into);
}

// A pointer that is advanced in a loop walks through an array, whose elements are one.
void PointsTo::ignore_growing_offsets() {
  std::vector<std::uint32_t> component(nodes_.size(), 0);
  for (const auto& [first, member] : cycles(true)) component[member] = component[first] = first + 1;
  for (NodeId node = 0; node < nodes_.size(); node++)
    for (Node::Field& field : nodes_[node].fields)
      if (component[node] != 0 && component[find(field.to)] == component[node]) field.offset = 0;
}

void PointsTo::merge_cycles() {
  for (const auto& [into, from] : cycles(false)) merge(into, from);
}

// Nodes on a cycle of copies point to the same: returns pairs of a node of each cycle and another one. `with_fields`:
// steps from an address to another one in the same object count as copies.
std::vector<std::pair<PointsTo::NodeId, PointsTo::NodeId>> PointsTo::cycles(bool with_fields) const {
  std::vector<std::pair<NodeId, NodeId>> merges;
  const auto edge_of = [&](NodeId node, std::size_t i) {
    const Node& from = nodes_[node];
    if (i < from.copies.size()) return find(from.copies[i]);
    const std::size_t field = i - from.copies.size();
    return with_fields && field < from.fields.size() ? find(from.fields[field].to) : kNoNode;
  };
  const auto take = [&](std::span<const NodeId> members) {
    for (const NodeId member : members.first(members.size() - 1)) merges.emplace_back(members.back(), member);
  };
  ComponentSearch search(nodes_.size(), edge_of, take);
  for (NodeId root = 0; root < nodes_.size(); root++)
    if (find(root) == root) search.search_from(root);
  return merges;
}

std::vector<CellId> PointsTo::targets(std::uint32_t function, const Operand& operand) const {
  if (operand.kind == Operand::Kind::kNothing) return {};
  if (operand.kind == Operand::Kind::kNode) return nodes_[find(first_nodes_[function] + operand.index)].targets;
  const auto known = address_nodes_.find({operand.index, operand.offset});
  return known == address_nodes_.end() ? std::vector<CellId>{} : nodes_[find(known->second)].targets;
}

const std::vector<CellId>& PointsTo::contents(CellId cell) const { return nodes_[find(cell_nodes_[cell])].targets; }

namespace {

std::vector<std::uint32_t> functions_in(const ProgramSummary& program, const PointsTo& points_to,
                                        const std::vector<CellId>& cells) {
  std::vector<std::uint32_t> found;
  for (const CellId cell : cells) {
    const MemoryObject& object = points_to.objects()[points_to.cell(cell).object];
    if (object.kind != MemoryObject::Kind::kFunction) continue;
    const std::uint32_t function = program.symbols[object.symbol].function;
    if (function != kNoNode) insert_sorted(found, function);
  }
  return found;
}

}  // namespace

std::vector<std::uint32_t> PointsTo::callees(std::uint32_t function, const SummaryStep& call) const {
  if (call.first.kind == Operand::Kind::kSymbol) {
    const SummarySymbol& symbol = program_.symbols[call.first.index];
    if (symbol.function != kNoNode) return {symbol.function};
    const KnownFunction known = known_function(symbol.name);
    const bool calls_back = known.call == KnownCall::kOnce || known.call == KnownCall::kCallsBack;
    if (!calls_back || known.argument >= call.arguments.size()) return {};
    return functions_in(program_, *this, targets(function, call.arguments[known.argument]));
  }
  return functions_in(program_, *this, targets(function, call.first));
}

std::vector<std::uint32_t> PointsTo::entries(const ThreadStart& start) const {
  return functions_in(program_, *this, nodes_[find(start.entry)].targets);
}

}  // namespace reweave

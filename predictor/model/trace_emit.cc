// TraceBuilder::finish: from raw events to the model.
#include <algorithm>
#include <bit>

#include "predictor/model/trace_builder.h"

namespace reweave {
namespace {

// The hash of a value; never 0.
std::uint32_t value_hash(std::uint64_t value) {
  const std::uint64_t mixed = (value ^ value >> 32) * 0x9e3779b97f4a7c15 ^ value * 0xbf58476d1ce4e5b9;
  const auto hash = static_cast<std::uint32_t>(mixed >> 32);
  return hash == 0 ? 1 : hash;
}

}  // namespace

TraceModel TraceBuilder::finish() {
  push_requests();
  TraceModel model;
  model.has_branches = has_branches_;
  const std::size_t threads = stack_of_.size();
  model.threads.resize(threads);
  model.branches.resize(threads);
  model.edges.resize(threads);
  model.held_nodes.push_back({kNone, kNone});
  held_now_.assign(threads, 0);
  reads_pending_.assign(threads, false);
  name_variables(model);
  emit(model);
  emit_edges(model);
  model.held_at_end = std::move(held_now_);
  model.locks = std::move(locks_);
  model.signals = std::move(signals_);
  model.blocks = std::move(blocks_);
  model.process_of.assign(threads, 0);
  for (const auto& [thread, process] : processes_) {
    if (thread < threads) model.process_of[thread] = process;
  }
  model.calls = std::move(calls_);
  mark_updates(model);
  model.build_indices();
  return model;
}

void TraceBuilder::name_variables(TraceModel& model) {
  first_variable_.assign(granules_.size(), kNone);
  for (std::size_t i = 0; i < granules_.size(); ++i) {
    const Granule& g = granules_[i];
    if (!keeps(g)) continue;
    first_variable_[i] = static_cast<std::uint32_t>(model.variables.size());
    for (std::uint32_t low = 0; low < 8;) {
      std::uint32_t high = low + 1;
      while (high < 8 && (g.cuts >> high & 1) == 0) ++high;
      model.variables.push_back({g.number * 8 + low, high - low, g.block});
      low = high;
    }
  }
  last_write_.assign(model.variables.size(), kNone);
}

void TraceBuilder::append(TraceModel& model, const RawEvent& raw, Op op, std::uint32_t object, std::uint8_t flags) {
  auto& events = model.threads[raw.thread];
  model.op.push_back(op);
  model.flags.push_back(flags);
  model.thread.push_back(raw.thread);
  model.object.push_back(object);
  model.site.push_back(raw.site);
  model.link.push_back(kNone);
  model.position.push_back(static_cast<std::uint32_t>(events.size()));
  model.stack.push_back(raw.stack);
  model.source.push_back(raw.source);
  model.held.push_back(held_now_[raw.thread]);
  if (!has_branches_ && op != Op::kRead && op != Op::kUpdate) reads_pending_[raw.thread] = false;
  if (op == Op::kBranch || op == Op::kEnd) model.branches[raw.thread].push_back(model.position.back());
  events.push_back(model.size() - 1);
}

void TraceBuilder::emit(TraceModel& model) {
  final_index_.assign(raw_.size(), kNone);
  std::uint32_t index = 0;
  for (; !raw_.empty(); raw_.pop_front(), ++index) {  // frees raw events as they are converted
    const RawEvent raw = raw_.front();
    const EventIndex before = model.size();
    if (raw.op <= Op::kUpdate) {
      // An access continues an instruction only if its preceding part was kept.
      emit_access(model, raw, index > 0 && final_index_[index - 1] != kNone);
    } else if (raw.op == Op::kBranch) {
      // A branch without a read since the previous branch decides nothing new.
      if (options_.collapse && !reads_pending_[raw.thread]) continue;
      reads_pending_[raw.thread] = false;
      append(model, raw, raw.op, raw.object, 0);
    } else if (raw.op >= Op::kAcquire && raw.op <= Op::kReleaseShared) {
      emit_lock(model, raw);
    } else {
      append(model, raw, raw.op, raw.object, 0);
    }
    if (model.size() > before) {
      final_index_[index] = before;
    } else if (reads_pending_[raw.thread] && (!has_branches_ || is_deciding_atomic(raw))) {
      // A dropped event that decides becomes a branch: in traces without branches every next event decides, and an
      // atomic read does unless it is a blind update.
      reads_pending_[raw.thread] = false;
      append(model, raw, Op::kBranch, kNone, 0);
    }
  }
}

void TraceBuilder::emit_access(TraceModel& model, const RawEvent& raw, bool joined) {
  const std::uint32_t base = first_variable_[raw.object];
  const std::uint64_t value = raw.valued ? values_.front() : 0;
  if (raw.valued) values_.pop_front();
  if (base == kNone) return;
  const std::uint8_t cuts = granules_[raw.object].cuts;
  const auto index_of = [&](std::uint32_t byte) {
    return static_cast<std::uint32_t>(std::popcount(cuts & ((2u << byte) - 1u)));
  };
  const std::uint32_t first = base + index_of(raw.low), last = base + index_of(raw.high - 1u);
  std::uint8_t flags = raw.flags;
  if (!joined) flags = static_cast<std::uint8_t>(flags & ~kSameInstruction);
  for (std::uint32_t variable = first; variable <= last; ++variable) {
    append(model, raw, raw.op, variable, flags);
    const EventIndex e = model.size() - 1;
    if (raw.valued) note_value(model, raw, variable, value);
    if (model.is_read(e)) {
      model.link[e] = last_write_[variable];
      reads_pending_[raw.thread] = true;
    }
    if (model.is_write(e)) last_write_[variable] = e;
    flags = static_cast<std::uint8_t>(flags | kSameInstruction);
  }
}

// Notes what the last write of the variable stored: the value that this access finds. `value`: the bytes from raw.low
// on.
void TraceBuilder::note_value(TraceModel& model, const RawEvent& raw, std::uint32_t variable,
                              std::uint64_t value) const {
  const ObjectName& name = model.variables[variable];
  const auto first = static_cast<std::uint32_t>(name.address % kGranuleBytes) - raw.low;
  if (value < kSmallValues) {
    value >>= 8 * first;
    if (name.bytes < kGranuleBytes) value &= (std::uint64_t{1} << 8 * name.bytes) - 1;
  } else if (name.bytes != static_cast<std::uint32_t>(raw.high - raw.low)) {
    return;  // the number of a larger value says nothing of its parts
  }
  const EventIndex write = last_write_[variable];
  auto& known = write == kNone ? model.initial : model.stored;
  const std::size_t index = write == kNone ? variable : write;
  if (index >= known.size()) known.resize(write == kNone ? model.variables.size() : index + 1);
  if (known[index] == 0) known[index] = value_hash(value);
}

void TraceBuilder::emit_lock(TraceModel& model, const RawEvent& raw) {
  if (options_.collapse && !lock_shared_use_[raw.object]) return;
  append(model, raw, raw.op, raw.object, 0);
  const EventIndex e = model.size() - 1;
  std::uint32_t& held = held_now_[raw.thread];
  auto& nodes = model.held_nodes;
  if (model.is_acquire(e)) {
    nodes.push_back({held, e});
    held = static_cast<std::uint32_t>(nodes.size() - 1);
    return;
  }
  // Drop the released lock from the set; locks taken after it are put back on top.
  std::vector<EventIndex> above;
  std::uint32_t node = held;
  while (model.object[nodes[node].acquire] != raw.object) {
    above.push_back(nodes[node].acquire);
    node = nodes[node].parent;
  }
  model.link[e] = nodes[node].acquire;
  model.link[nodes[node].acquire] = e;
  held = nodes[node].parent;
  for (; !above.empty(); above.pop_back()) {
    nodes.push_back({held, above.back()});
    held = static_cast<std::uint32_t>(nodes.size() - 1);
  }
}

// Finds x = f(x): a plain read and then, at any distance but without another access of the thread to the variable, a
// write.
void TraceBuilder::mark_updates(TraceModel& model) {
  std::vector<EventIndex> last(model.variables.size(), kNone);
  for (const auto& events : model.threads) {
    for (EventIndex e : events) {
      if (!model.is_access(e)) continue;
      EventIndex& before = last[model.object[e]];
      const bool update = before != kNone && model.thread[before] == model.thread[e] && model.op[e] == Op::kWrite &&
                          model.op[before] == Op::kRead &&
                          ((model.flags[before] | model.flags[e]) & (kAtomic | kFrees)) == 0;
      if (update) model.flags[before] |= kFeedsWrite;
      before = e;
    }
  }
}

void TraceBuilder::emit_edges(TraceModel& model) {
  auto add = [&](EventIndex target, EventIndex source, EventIndex before_source) {
    if (source < target) model.edges[model.thread[target]].push_back({target, source, before_source});
  };
  for (const MustEdge& raw : sync_.take()) {
    const EventIndex before = raw.before_source == kNone ? kNone : final_index_[raw.before_source];
    add(final_index_[raw.target], final_index_[raw.source], before);
  }
  // A thread without kept events still ends after its start: its join comes after its fork.
  std::vector<EventIndex> end_of(model.thread_count(), kNone);
  for (std::uint32_t t = 0; t < end_of.size(); ++t) {
    if (!model.threads[t].empty()) end_of[t] = model.threads[t].back();
  }
  for (const MustEdge& raw : start_edges_) {  // target is the thread started
    const EventIndex fork = final_index_[raw.source];
    const bool known = raw.target < model.thread_count();
    if (known && !model.threads[raw.target].empty()) add(model.threads[raw.target].front(), fork, kNone);
    if (raw.target >= end_of.size()) end_of.resize(raw.target + 1u, kNone);
    if (end_of[raw.target] == kNone) end_of[raw.target] = fork;
  }
  for (const MustEdge& raw : join_edges_) {  // source is the thread joined
    if (raw.source < end_of.size() && end_of[raw.source] != kNone)
      add(final_index_[raw.target], end_of[raw.source], kNone);
  }
  for (auto& edges : model.edges) {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const MustEdge& a, const MustEdge& b) { return a.target < b.target; });
  }
}

}  // namespace reweave

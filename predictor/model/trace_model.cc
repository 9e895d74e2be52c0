#include "predictor/model/trace_model.h"

#include <algorithm>

namespace reweave {

EventTable::EventTable(const std::vector<std::uint32_t>& row_sizes) : start_(row_sizes.size() + 1, 0) {
  for (std::size_t i = 0; i < row_sizes.size(); ++i) start_[i + 1] = start_[i] + row_sizes[i];
  fill_.assign(start_.begin(), start_.end() - 1);
  events_.resize(start_.back());
}

std::span<const EventIndex> EventRow::of(std::uint32_t thread) const {
  const auto part =
      std::partition_point(parts_.begin(), parts_.end(), [&](const Part& p) { return p.thread < thread; });
  if (part == parts_.end() || part->thread != thread) return {};
  const std::size_t end = part + 1 == parts_.end() ? size() : (part + 1)->begin;
  return subspan(part->begin, end - part->begin);
}

void ThreadedTable::freeze(const std::vector<ThreadId>& thread_of) {
  EventTable::freeze();
  for (std::uint32_t r = 0; r < rows(); ++r) {
    first_part_.push_back(static_cast<std::uint32_t>(parts_.size()));
    const auto row = EventTable::operator[](r);
    for (auto at = row.begin(); at != row.end();) {
      const ThreadId thread = thread_of[*at];
      parts_.push_back({thread, static_cast<std::uint32_t>(at - row.begin())});
      at = std::partition_point(at, row.end(), [&](EventIndex e) { return thread_of[e] == thread; });
    }
  }
  first_part_.push_back(static_cast<std::uint32_t>(parts_.size()));
}

void TraceModel::build_indices() {
  std::vector<std::uint32_t> writes(variables.size()), reads(variables.size()), readers(size()), acquires(locks.size()),
      waking(signals.size());
  for (EventIndex e = 0; e < size(); ++e) {
    if (is_write(e)) ++writes[object[e]];
    if (is_read(e)) ++reads[object[e]];
    if (is_read(e) && link[e] != kNone) ++readers[link[e]];
    if (is_acquire(e) || op[e] == Op::kRequest) ++acquires[object[e]];
    if (op[e] == Op::kNotify) ++waking[object[e]];
  }
  std::vector<std::uint32_t> end_of(thread_count(), kNone);  // the signal of each thread's end
  for (std::uint32_t s = 0; s < signals.size(); ++s) {
    const std::uint32_t t = signals[s].thread;
    if (t >= thread_count() || threads[t].empty()) continue;
    end_of[t] = s;
    waking[s] = 1;
  }
  writes_of = ThreadedTable(writes);
  reads_of = ThreadedTable(reads);
  readers_of = EventTable(readers);
  locking_of = ThreadedTable(acquires);
  waking_of = ThreadedTable(waking);
  // Thread by thread, so that each row comes out sorted by (thread, position).
  for (const auto& events : threads) {
    for (EventIndex e : events) {
      if (is_write(e)) writes_of.push_back(object[e], e);
      if (is_read(e)) reads_of.push_back(object[e], e);
      if (is_read(e) && link[e] != kNone) readers_of.push_back(link[e], e);
      if (is_acquire(e) || op[e] == Op::kRequest) locking_of.push_back(object[e], e);
      if (op[e] == Op::kNotify) waking_of.push_back(object[e], e);
    }
  }
  for (std::uint32_t t = 0; t < thread_count(); ++t) {
    if (end_of[t] != kNone) waking_of.push_back(end_of[t], threads[t].back());
  }
  readers_of.freeze();
  carrying.assign(thread_count(), {});
  for (std::uint32_t t = 0; t < thread_count(); ++t) {
    for (EventIndex e : threads[t]) {
      if (is_read(e) && decides_nothing(e) && !is_blind(e)) has_data_reads = true;
      const auto seen_by = is_write(e) && carries(e) ? readers_of[e] : std::span<const EventIndex>();
      const auto may_decide = [&](EventIndex r) { return !decides_nothing(r) || is_blind(r); };
      if (std::any_of(seen_by.begin(), seen_by.end(), may_decide)) carrying[t].push_back(position[e]);
    }
  }
  for (ThreadedTable* table : {&writes_of, &reads_of, &locking_of, &waking_of}) table->freeze(thread);
  build_chains();
}

void TraceModel::build_chains() {
  chain.clear();
  chains.clear();
  chain_reads.assign(thread_count(), {});
  for (EventIndex e = 0; e < size(); ++e) {
    const bool after_blind = is_read(e) && link[e] != kNone && is_blind(link[e]);
    if (!is_blind(e)) {
      if (after_blind) chain_reads[thread[e]].push_back(e);
      continue;
    }
    if (chain.empty()) chain.resize(size(), kNone);
    if (!after_blind) chains.emplace_back();
    chain[e] = after_blind ? chain[link[e]] : static_cast<std::uint32_t>(chains.size() - 1);
    chains[chain[e]].push_back(e);
  }
}

std::uint64_t TraceModel::address_of(EventIndex e) const {
  if (is_access(e)) return variables[object[e]].address;
  if (is_acquire(e) || is_release(e) || op[e] == Op::kRequest) return locks[object[e]].address;
  if (op[e] == Op::kWait || op[e] == Op::kNotify) return signals[object[e]].name.address;
  return op[e] == Op::kFree ? blocks[object[e]].address : 0;
}

std::uint32_t TraceModel::instruction_start(std::uint32_t t, std::uint32_t pos) const {
  while (pos > 0 && (flags[at(t, pos)] & kSameInstruction) != 0) --pos;
  return pos;
}

std::uint32_t TraceModel::decided(std::uint32_t t, std::uint32_t length) const {
  if (length == 0) return 0;
  if (!has_branches) return instruction_start(t, length - 1);
  const auto& positions = branches[t];
  auto next = std::lower_bound(positions.begin(), positions.end(), length);
  return next == positions.begin() ? 0 : *(next - 1);
}

EventIndex TraceModel::last_before(const EventRow& row, std::uint32_t t, std::uint32_t end) const {
  const auto mine = row.of(t);
  const auto it = std::lower_bound(mine.begin(), mine.end(), bound(t, end));
  return it == mine.begin() ? kNone : *(it - 1);
}

EventIndex TraceModel::first_from(const EventRow& row, std::uint32_t t, std::uint32_t from, std::uint32_t end) const {
  const auto mine = row.of(t);
  const auto it = std::lower_bound(mine.begin(), mine.end(), bound(t, from));
  return it == mine.end() || *it >= bound(t, end) ? kNone : *it;
}

std::span<const EventIndex> TraceModel::slice(const EventRow& row, std::uint32_t t, std::uint32_t from,
                                              std::uint32_t to) const {
  const auto mine = row.of(t);
  const auto first = std::lower_bound(mine.begin(), mine.end(), bound(t, from));
  return {first, std::lower_bound(first, mine.end(), bound(t, to))};
}

std::span<const MustEdge> TraceModel::edges_into(std::uint32_t t, std::uint32_t from, std::uint32_t to) const {
  const auto& all = edges[t];
  auto below = [&](std::uint32_t pos) {
    return std::partition_point(all.begin(), all.end(), [&](const MustEdge& m) { return position[m.target] < pos; });
  };
  const auto first = below(from), last = below(std::max(from, to));
  return {first, last};
}

}  // namespace reweave

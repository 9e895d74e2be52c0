#include "predictor/trace_model.h"

#include <algorithm>

namespace reweave {

EventTable::EventTable(const std::vector<std::uint32_t>& row_sizes) : start_(row_sizes.size() + 1, 0) {
  for (std::size_t i = 0; i < row_sizes.size(); ++i) start_[i + 1] = start_[i] + row_sizes[i];
  fill_.assign(start_.begin(), start_.end() - 1);
  events_.resize(start_.back());
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
  writes_of = EventTable(writes);
  reads_of = EventTable(reads);
  readers_of = EventTable(readers);
  locking_of = EventTable(acquires);
  waking_of = EventTable(waking);
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
  for (EventTable* table : {&writes_of, &reads_of, &readers_of, &locking_of, &waking_of}) table->freeze();
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

EventIndex TraceModel::last_before(std::span<const EventIndex> row, std::uint32_t t, std::uint32_t end) const {
  auto it = std::partition_point(row.begin(), row.end(), [&](EventIndex e) { return precedes(e, t, end); });
  if (it == row.begin() || thread[*(it - 1)] != t) return kNone;
  return *(it - 1);
}

EventIndex TraceModel::first_from(std::span<const EventIndex> row, std::uint32_t t, std::uint32_t from,
                                  std::uint32_t end) const {
  auto it = std::partition_point(row.begin(), row.end(), [&](EventIndex e) { return precedes(e, t, from); });
  if (it == row.end() || thread[*it] != t || position[*it] >= end) return kNone;
  return *it;
}

std::span<const EventIndex> TraceModel::slice(std::span<const EventIndex> row, std::uint32_t t, std::uint32_t from,
                                              std::uint32_t to) const {
  auto first = std::partition_point(row.begin(), row.end(), [&](EventIndex e) { return precedes(e, t, from); });
  auto last = std::partition_point(first, row.end(), [&](EventIndex e) { return precedes(e, t, to); });
  return row.subspan(static_cast<std::size_t>(first - row.begin()), static_cast<std::size_t>(last - first));
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

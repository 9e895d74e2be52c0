#include "explorer/explain/way/history.h"

#include <algorithm>
#include <set>

namespace reweave {

namespace {

constexpr std::size_t kMostHistoryEntries = 3'000'000;

bool is_kept(EventKind kind) {
  switch (kind) {
    case EventKind::kRead:
    case EventKind::kWrite:
    case EventKind::kAtomicLoad:
    case EventKind::kAtomicStore:
    case EventKind::kAtomicRmw:
    case EventKind::kAlloc:
    case EventKind::kFree:
      return true;
    default:
      return false;
  }
}

bool overlap(const TraceEvent& what, std::uint64_t address, std::uint64_t bytes) {
  return what.address < address + bytes && address < what.address + what.extra;
}

}  // namespace

bool is_write(EventKind kind) {
  return kind == EventKind::kWrite || kind == EventKind::kAtomicStore || kind == EventKind::kAtomicRmw;
}
bool is_read(EventKind kind) {
  return kind == EventKind::kRead || kind == EventKind::kAtomicLoad || kind == EventKind::kAtomicRmw;
}

AccessHistory::AccessHistory(const TraceReader& trace, std::uint16_t process) {
  std::set<ThreadId> others;
  for (const TraceThreadInfo& thread : trace.info().threads)
    if (thread.process != process) others.insert(thread.id);
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals;
  bool in_main = false;
  TraceChunk chunk;
  for (std::size_t c = 0; c < trace.chunk_count(); c++) {
    trace.read_chunk(c, chunk);
    for (std::size_t i = 0; i < chunk.size(); i++) {
      if (others.contains(chunk.thread[i])) continue;
      last_thread_ = chunk.thread[i];
      if (chunk.kind[i] == EventKind::kCall && chunk.aux[i] == kEntersMain) {
        arrivals.clear();
        in_main = true;
      }
      if (!is_kept(chunk.kind[i])) continue;
      const TraceEvent what = chunk.event(i, trace.pc_of(chunk.site[i]));
      std::uint32_t& number = arrivals[{what.thread, what.pc}];
      if (!shares_point(what)) number++;
      add(chunk.first_event + i, what, in_main ? number : 0);
    }
  }
}

void AccessHistory::add(std::uint64_t event, const TraceEvent& what, std::uint32_t number) {
  if (entries_.size() == 2 * kMostHistoryEntries) {
    const std::uint32_t gone = kMostHistoryEntries;
    entries_.erase(entries_.begin(), entries_.begin() + gone);
    for (std::size_t i = 0; i < entries_.size(); i++)
      entries_[i].before = entries_[i].before < gone ? static_cast<std::uint32_t>(i) : entries_[i].before - gone;
    std::erase_if(last_, [&](const auto& last) { return last.second < gone; });
    for (auto& [thread, last] : last_) last -= gone;
    cut_ = true;
  }
  const std::size_t index = entries_.size();
  const auto [last, first] = last_.try_emplace(what.thread, index);
  entries_.push_back({event, what, number, static_cast<std::uint32_t>(first ? index : last->second)});
  last->second = index;
}

std::size_t AccessHistory::last_of(ThreadId thread) const {
  const auto last = last_.find(thread);
  return last == last_.end() ? kNone : last->second;
}

std::size_t AccessHistory::before(std::size_t index) const {
  const std::size_t earlier = entries_[index].before;
  return earlier == index ? kNone : earlier;
}

std::size_t AccessHistory::last_write(std::uint64_t address, std::uint64_t bytes, std::size_t index) const {
  for (std::size_t i = index; i-- > 0;)
    if (is_write(entries_[i].what.kind) && overlap(entries_[i].what, address, bytes)) return i;
  return kNone;
}

std::size_t AccessHistory::write_between(std::uint64_t address, std::uint64_t bytes, std::size_t from, std::size_t to,
                                         ThreadId thread) const {
  for (std::size_t i = to; i-- > from + 1;) {
    const TraceEvent& what = entries_[i].what;
    if (what.thread != thread && is_write(what.kind) && overlap(what, address, bytes)) return i;
  }
  return kNone;
}

std::optional<AccessHistory::Block> AccessHistory::block_at(std::uint64_t address, std::size_t index) const {
  std::optional<std::size_t> freed;
  for (std::size_t i = std::min(index, entries_.size()); i-- > 0;) {
    const TraceEvent& what = entries_[i].what;
    if (what.kind == EventKind::kFree && what.address <= address && !freed) freed = i;
    if (what.kind != EventKind::kAlloc || what.aux == kThreadStack) continue;
    if (address < what.address || address - what.address >= std::max<std::uint64_t>(what.extra, 1)) continue;
    if (freed && entries_[*freed].what.address != what.address) {
      freed.reset();  // the release of another block; look for the release of this one
      for (std::size_t k = i + 1; k < index && !freed; k++)
        if (entries_[k].what.kind == EventKind::kFree && entries_[k].what.address == what.address) freed = k;
    }
    return Block{what.address, what.extra, i, freed};
  }
  return {};
}

}  // namespace reweave

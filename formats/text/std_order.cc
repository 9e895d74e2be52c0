#include "formats/text/std_order.h"

#include <fmt/format.h>

namespace reweave {

void StdOrder::check(const TraceEvent& event, std::size_t line, std::string_view name) {
  if (const auto joined = joined_.find(event.thread); joined != joined_.end())
    throw StdFormatError(
        line, fmt::format("{} continues after it was joined in line {}", thread_name(event.thread), joined->second));
  const bool shared = event.aux == static_cast<std::uint8_t>(LockMode::kShared);
  switch (event.kind) {
    case EventKind::kLock:
      return shared ? void() : take(event.address, event, line, name);
    case EventKind::kWaitEnd:
      return take(event.extra, event, line, name);
    case EventKind::kUnlock:
      return shared ? void() : release(event.address);
    case EventKind::kWaitBegin:
      return release(event.extra);
    case EventKind::kAlloc:  // earlier locks in that memory are gone
      holders_.erase(holders_.lower_bound(event.address), holders_.lower_bound(event.address + event.extra));
      return;
    case EventKind::kJoin:
      joined_.try_emplace(static_cast<ThreadId>(event.extra), line);
      if (event.extra != event.thread) return;
      throw StdFormatError(line, thread_name(event.thread) + " joins itself");
    case EventKind::kEnd:
      ended_.try_emplace(event.thread, line);
      return;
    default:
      return;
  }
}

void StdOrder::take(std::uint64_t lock, const TraceEvent& event, std::size_t line, std::string_view name) {
  const auto [it, fresh] = holders_.try_emplace(lock, Holder{event.thread, 0, line});
  Holder& holder = it->second;
  if (holder.thread != event.thread) {
    if (!ended_.contains(holder.thread))
      throw StdFormatError(line,
                           fmt::format("{} takes '{}', which {} has held since line {}; if the lock may have several "
                                       "holders, write acqs and rels",
                                       thread_name(event.thread), name, thread_name(holder.thread), holder.line));
    holder = {event.thread, 0, line};
  }
  holder.depth++;
}

void StdOrder::release(std::uint64_t lock) {
  const auto it = holders_.find(lock);
  if (it != holders_.end() && --it->second.depth == 0) holders_.erase(it);
}

}  // namespace reweave

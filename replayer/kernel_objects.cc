#include "replayer/kernel_objects.h"

#include <algorithm>

namespace reweave {
namespace {

using wire::KernelPlace;
using wire::KernelStep;

constexpr auto kTasks = static_cast<std::uint64_t>(KernelPlace::kTasks);
constexpr auto kFileLocks = static_cast<std::uint64_t>(KernelPlace::kFileLocks);

}  // namespace

void KernelObjects::note(const wire::RecordHeader* record) {
  if (static_cast<wire::RecordKind>(record->kind) != wire::RecordKind::kSpawn) return;
  if (record->bytes < sizeof(wire::SpawnRecord)) return;
  const auto& spawn = *reinterpret_cast<const wire::SpawnRecord*>(record);
  const auto kind = static_cast<wire::SpawnKind>(spawn.kind);
  process_of_[spawn.child] = spawn.process;
  const bool copies = kind == wire::SpawnKind::kProcess || kind == wire::SpawnKind::kVfork;
  if (copies) tables_[spawn.process] = of(record->thread);
}

KernelObjects::Object KernelObjects::place(std::uint64_t key) {
  const auto [it, is_new] = places_.try_emplace(key, 0);
  if (is_new) it->second = fresh();
  return it->second;
}

void KernelObjects::tell(const TraceEvent& step, EventKind kind, const std::set<Object>& objects,
                         std::vector<TraceEvent>& result) {
  for (const Object object : objects) result.push_back({object, step.pc, 0, step.thread, kind, 0});
}

std::vector<TraceEvent> KernelObjects::take(const TraceEvent& step) {
  std::vector<TraceEvent> result;
  const Descriptors& table = of(step.thread);
  const auto at = table.find(step.address);
  switch (static_cast<KernelStep>(step.aux)) {
    case KernelStep::kSends:
      if (at != table.end()) tell(step, EventKind::kSend, at->second.out, result);
      break;
    case KernelStep::kReceives:
      if (at != table.end()) tell(step, EventKind::kReceive, at->second.in, result);
      break;
    case KernelStep::kReceivesAny:
      tell(step, EventKind::kReceive, {kAnyObject}, result);
      break;
    case KernelStep::kGives:
      tell(step, EventKind::kSend, {place(step.address)}, result);
      break;
    case KernelStep::kTakes:
      files_locked_ |= step.address == kFileLocks;
      tell(step, EventKind::kReceive, {place(step.address)}, result);
      break;
    case KernelStep::kClosed:
      close(step, result);
      break;
    case KernelStep::kPasses:
      pass(step);
      break;
    case KernelStep::kPassed:
      receive_passed(step);
      break;
    default:
      make(step);
      break;
  }
  return result;
}

void KernelObjects::make(const TraceEvent& step) {
  Descriptors& table = of(step.thread);
  const Object object = fresh();
  switch (static_cast<KernelStep>(step.aux)) {
    case KernelStep::kMadePipe:
      table[step.address] = {{object}, {object}};
      table[step.extra] = {{object}, {object}};
      break;
    case KernelStep::kMadePair:
      make_pair(table, step);
      break;
    case KernelStep::kMadeCounter:
      table[step.address] = {{object}, {object}};
      break;
    case KernelStep::kMadeSocket:
      table[step.address] = {{network_}, {network_}};
      break;
    case KernelStep::kMadeSignals:
      table[step.address] = {{place(kTasks)}, {}};
      break;
    case KernelStep::kDuplicated:
      if (step.extra == step.address) break;
      if (const auto from = table.find(step.address); from != table.end()) {
        const End end = from->second;
        table[step.extra] = end;
      } else {
        table.erase(step.extra);
      }
      break;
    default:
      break;
  }
}

void KernelObjects::make_pair(Descriptors& table, const TraceEvent& step) {
  const Object there = fresh(), back = fresh();
  table[step.address] = {{back}, {there}};
  table[step.extra] = {{there}, {back}};
}

// The last to close an end tells whoever reads from the other. Descriptors that are not closed at the end of a process
// are by the kernel, and its end is told.
void KernelObjects::close(const TraceEvent& step, std::vector<TraceEvent>& result) {
  Descriptors& table = of(step.thread);
  const auto first = table.lower_bound(step.address), last = table.upper_bound(step.extra);
  for (auto at = first; at != last; ++at) tell(step, EventKind::kSend, at->second.out, result);
  table.erase(first, last);
  if (files_locked_) tell(step, EventKind::kSend, {place(kFileLocks)}, result);
}

void KernelObjects::pass(const TraceEvent& step) {
  const Descriptors& table = of(step.thread);
  const auto socket = table.find(step.address), passed = table.find(step.extra);
  if (socket == table.end()) return;
  std::optional<End> end;
  if (passed != table.end()) end = passed->second;
  for (const Object object : socket->second.out) passed_[object].push_back(end);
}

// Between the ends of a pair messages come in order; through other sockets, any of what was passed may have come.
void KernelObjects::receive_passed(const TraceEvent& step) {
  Descriptors& table = of(step.thread);
  table.erase(step.extra);
  const auto socket = table.find(step.address);
  if (socket == table.end()) return;
  const std::set<Object> in = socket->second.in;
  for (const Object object : in) {
    auto& waiting = passed_[object];
    if (waiting.empty()) continue;
    const bool in_order = object != network_ && in.size() == 1;
    for (const std::optional<End>& end : waiting) {
      if (!end) {
        if (in_order) break;
        continue;
      }
      End& got = table[step.extra];
      got.in.insert(end->in.begin(), end->in.end());
      got.out.insert(end->out.begin(), end->out.end());
      if (in_order) break;
    }
    if (in_order) waiting.pop_front();
  }
}

}  // namespace reweave

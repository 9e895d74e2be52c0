#include "replayer/kernel_objects.h"

namespace reweave {
namespace {

using wire::KernelPlace;
using wire::KernelStep;

KernelStep kind_of(const TraceEvent& step) { return static_cast<KernelStep>(step.aux); }

TraceEvent hint(const TraceEvent& step, Hint hint) {
  return {0, step.pc, 0, step.thread, EventKind::kHint, static_cast<std::uint8_t>(hint)};
}

}  // namespace

void KernelObjects::note(const wire::RecordHeader* record) {
  if (static_cast<wire::RecordKind>(record->kind) != wire::RecordKind::kSpawn) return;
  if (record->bytes < sizeof(wire::SpawnRecord)) return;
  const auto& spawn = wire::record_cast<wire::SpawnRecord>(*record);
  const auto kind = static_cast<wire::SpawnKind>(spawn.kind);
  process_of_[spawn.child] = spawn.process;
  const bool copies = kind == wire::SpawnKind::kProcess || kind == wire::SpawnKind::kVfork;
  if (copies) tables_[spawn.process] = of(record->thread);
}

KernelObjects::Object KernelObjects::place(std::uint64_t kind, std::uint64_t which) {
  const auto [it, is_new] = places_.try_emplace({kind, which}, 0);
  if (is_new) it->second = fresh();
  return it->second;
}

void KernelObjects::tell(const TraceEvent& step, EventKind kind, const std::set<Object>& objects,
                         std::vector<TraceEvent>& result, std::uint8_t aux) {
  for (const Object object : objects) result.push_back({object, step.pc, 0, step.thread, kind, aux});
}

// Collects the objects that `end` receives from. An epoll descriptor receives from every descriptor that it watches
// with the user data `*data`, or from all that it watches if `data` is null.
void KernelObjects::add_incoming(const End& end, const std::uint64_t* data, int depth, std::set<Object>& objects) {
  constexpr int kMostNested = 5;  // the kernel's limit
  objects.insert(end.in.begin(), end.in.end());
  if (!end.watched || depth >= kMostNested) return;
  for (const auto& [descriptor, watch] : end.watched->by_descriptor)
    if (data == nullptr || *data == watch.data) add_incoming(watch.end, nullptr, depth + 1, objects);
}

std::vector<TraceEvent> KernelObjects::take(const TraceEvent& step) {
  std::vector<TraceEvent> result;
  if (!tell_of(step, result) && !make(step)) change(step, result);
  return result;
}

bool KernelObjects::tell_of(const TraceEvent& step, std::vector<TraceEvent>& result) {
  const Descriptors& table = of(step.thread);
  const auto at = table.find(step.address);
  const bool is_known = at != table.end();
  std::set<Object> incoming;
  switch (kind_of(step)) {
    case KernelStep::kSends:
      if (is_known) tell(step, EventKind::kSend, at->second.out, result);
      if (is_known && at->second.is_file) result.push_back(hint(step, Hint::kWritesFile));
      return true;
    case KernelStep::kReceives:
    case KernelStep::kReady:
      if (is_known && at->second.is_file) result.push_back(hint(step, Hint::kReadsFile));
      if (is_known) add_incoming(at->second, kind_of(step) == KernelStep::kReady ? &step.extra : nullptr, 0, incoming);
      tell(step, EventKind::kReceive, incoming, result);
      return true;
    case KernelStep::kGives:
      tell(step, EventKind::kSend, {place(step.address, step.extra)}, result, kNoDescriptor);
      return true;
    case KernelStep::kTakes:
      files_locked_ |= step.address == static_cast<std::uint64_t>(KernelPlace::kFileLocks);
      tell(step, EventKind::kReceive, {place(step.address, step.extra)}, result, kNoDescriptor);
      return true;
    case KernelStep::kOpens:
      if (fifos_.contains(step.extra))
        tell(step, EventKind::kSend, {place(static_cast<std::uint64_t>(KernelPlace::kFifo), step.extra)}, result);
      return true;
    case KernelStep::kLeaves:
      for (const auto& [descriptor, end] : table) tell(step, EventKind::kSend, end.out, result);
      if (files_locked_) tell(step, EventKind::kSend, {place(KernelPlace::kFileLocks)}, result, kNoDescriptor);
      return true;
    default:
      return false;
  }
}

bool KernelObjects::make(const TraceEvent& step) {
  Descriptors& table = of(step.thread);
  switch (kind_of(step)) {
    case KernelStep::kMadePipe: {
      const Object object = fresh();
      table[step.address] = {{object}, {}, {}};
      table[step.extra] = {{}, {object}, {}};
      return true;
    }
    case KernelStep::kMadePair: {
      const Object there = fresh(), back = fresh();
      table[step.address] = {{back}, {there}, {}};
      table[step.extra] = {{there}, {back}, {}};
      return true;
    }
    case KernelStep::kMadeCounter: {
      const Object object = fresh();
      table[step.address] = {{object}, {object}, {}};
      return true;
    }
    case KernelStep::kMadeSocket:
      make_socket(table[step.address], step.extra);
      return true;
    case KernelStep::kMadeSignals:
      table[step.address] = {{place(KernelPlace::kTasks)}, {}, {}};
      return true;
    case KernelStep::kMadeQueue: {
      const Object object = place(static_cast<std::uint64_t>(KernelPlace::kNamedQueues), step.extra);
      table[step.address] = {{object}, {object}, {}};
      return true;
    }
    case KernelStep::kMadeFifo:
      fifos_.insert(step.extra);
      return true;
    default:
      return false;
  }
}

// In a connection one socket was accepted and the other was not, so there is one object per direction. Datagrams may go
// from any socket to any other, so they have one object.
void KernelObjects::make_socket(End& end, std::uint64_t kind) {
  const auto [at, is_new] = sockets_.try_emplace(kind);
  if (is_new) {
    const bool has_sides = kind == wire::socket_kind(false, true) || kind == wire::socket_kind(true, true);
    const Object one = fresh();
    at->second = {one, has_sides ? fresh() : one};
    shared_directions_.insert({at->second.first, at->second.second});
  }
  end = {{at->second.second}, {at->second.first}, {}};
}

void KernelObjects::change(const TraceEvent& step, std::vector<TraceEvent>& result) {
  switch (kind_of(step)) {
    case KernelStep::kOpened:
      open(step);
      if (fifos_.contains(step.extra)) tell(step, EventKind::kReceive, of(step.thread)[step.address].in, result);
      break;
    case KernelStep::kListens:
      listen(step, result);
      break;
    case KernelStep::kAccepted:
    case KernelStep::kDuplicated:
      copy(step);
      break;
    case KernelStep::kClosed:
      close(step, result);
      break;
    case KernelStep::kWatches:
    case KernelStep::kWatchesNoMore:
      watch(step, kind_of(step) == KernelStep::kWatches);
      break;
    case KernelStep::kPasses:
      pass(step);
      break;
    case KernelStep::kPassed:
      receive_passed(step);
      break;
    default:
      break;
  }
}

// Both directions of a FIFO are one object, because opening one end waits for another thread to open the other end.
void KernelObjects::open(const TraceEvent& step) {
  Descriptors& table = of(step.thread);
  End& end = table[step.address] = {};
  end.is_file = !fifos_.contains(step.extra);
  if (end.is_file) return;
  const Object object = place(static_cast<std::uint64_t>(KernelPlace::kFifo), step.extra);
  end.in = end.out = {object};
}

// A successful connect is ordered after the listen.
void KernelObjects::listen(const TraceEvent& step, std::vector<TraceEvent>& result) {
  Descriptors& table = of(step.thread);
  const auto at = table.find(step.address);
  if (at == table.end()) return;
  for (const auto& [kind, sides] : sockets_)
    if (at->second.out == std::set<Object>{sides.first}) at->second = {{sides.first}, {sides.second}, {}};
  tell(step, EventKind::kSend, at->second.out, result);
}

void KernelObjects::copy(const TraceEvent& step) {
  if (step.extra == step.address) return;
  Descriptors& table = of(step.thread);
  const auto from = table.find(step.address);
  if (from == table.end()) {
    table.erase(step.extra);
  } else {
    const End end = from->second;
    table[step.extra] = end;
  }
}

// Closing an end is a send: when the last descriptor is closed, readers of the other end notice.
void KernelObjects::close(const TraceEvent& step, std::vector<TraceEvent>& result) {
  Descriptors& table = of(step.thread);
  if (step.extra < step.address) return;
  const auto first = table.lower_bound(step.address), last = table.upper_bound(step.extra);
  for (auto at = first; at != last; ++at) tell(step, EventKind::kSend, at->second.out, result);
  table.erase(first, last);
  if (files_locked_) tell(step, EventKind::kSend, {place(KernelPlace::kFileLocks)}, result, kNoDescriptor);
}

void KernelObjects::watch(const TraceEvent& step, bool starts) {
  constexpr std::uint64_t kLow = (std::uint64_t{1} << wire::kWatchedShift) - 1;
  const std::uint64_t epoll = step.address & kLow, watched = step.address >> wire::kWatchedShift;
  Descriptors& table = of(step.thread);
  End& end = table[epoll];
  if (!end.watched) end.watched = std::make_shared<Watched>();
  end.watched->by_descriptor.erase(watched);
  const auto at = table.find(watched);
  if (starts && at != table.end()) end.watched->by_descriptor[watched] = {step.extra, at->second};
}

void KernelObjects::pass(const TraceEvent& step) {
  const Descriptors& table = of(step.thread);
  const auto socket = table.find(step.address), passed = table.find(step.extra);
  if (socket == table.end()) return;
  std::optional<End> end;
  if (passed != table.end()) end = passed->second;
  for (const Object object : socket->second.out) passed_[object].push_back(end);
}

// Between the ends of a pair messages arrive in order; through other sockets, any of the descriptors passed may be the
// one received.
void KernelObjects::receive_passed(const TraceEvent& step) {
  Descriptors& table = of(step.thread);
  table.erase(step.extra);
  const auto socket = table.find(step.address);
  if (socket == table.end()) return;
  const std::set<Object> in = socket->second.in;
  for (const Object object : in) {
    auto& waiting = passed_[object];
    if (waiting.empty()) continue;
    const bool in_order = !shared_directions_.contains(object);
    for (const std::optional<End>& end : waiting) {
      if (end) {
        End& got = table[step.extra];
        got.in.insert(end->in.begin(), end->in.end());
        got.out.insert(end->out.begin(), end->out.end());
        if (end->watched) got.watched = end->watched;
      }
      if (in_order) break;
    }
    if (in_order) waiting.pop_front();
  }
}

}  // namespace reweave

#include "replayer/live/checkpoints.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "formats/base/error.h"

namespace reweave {

namespace {

constexpr std::uint64_t kNear = 16;        // events that a replay passes faster than it makes a checkpoint
constexpr std::uint64_t kHopeless = 64;    // events after a refused checkpoint
constexpr std::size_t kMost = 24;          // checkpoints
constexpr std::size_t kFewest = 4;         // checkpoints kept regardless of their memory
constexpr std::uint64_t kMemoryParts = 4;  // checkpoints may use 1/kMemoryParts of the free memory

// The number after `name` in a file of lines "name: number kB", in bytes.
std::uint64_t bytes_in(const std::string& path, const char* name) {
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name)) return std::strtoull(line.c_str() + std::strlen(name), nullptr, 10) * 1024;
  return 0;
}

std::string go_to(std::uint64_t event) {
  std::string request = "t";
  request.append(reinterpret_cast<const char*>(&event), sizeof event);
  return request;
}

}  // namespace

void Checkpoints::begin(const ReplaySource& source, nlohmann::json known) {
  source_ = source;
  known_ = std::move(known);
}

std::uint64_t Checkpoints::holdable(std::uint64_t event) const {
  event = std::max(event, known_.at("first").get<std::uint64_t>());
  for (const auto& [from, to] : known_.at("loading").get<std::vector<std::pair<std::uint64_t, std::uint64_t>>>())
    if (event >= from && event <= to) event = to + 1;
  return event;
}

const Checkpoint* Checkpoints::nearest(std::uint64_t event) const {
  const auto behind = made_.upper_bound(event);
  return behind == made_.begin() ? nullptr : &std::prev(behind)->second;
}

// True if a checkpoint at `event`, or up to kHopeless events before it, was refused. The same reason probably applies
// here.
bool Checkpoints::is_hopeless(std::uint64_t event) const {
  const auto found = refused_.lower_bound(event - std::min(event, kHopeless));
  return found != refused_.end() && *found <= event;
}

std::set<std::uint64_t> Checkpoints::pattern(std::uint64_t event, std::uint64_t from) const {
  std::set<std::uint64_t> events = {event};
  for (std::uint64_t back = 1; back < event - from; back *= back < kNear ? 2 : 4)
    if (const std::uint64_t before = holdable(event - back); before > from) events.insert(before);
  return events;
}

const Checkpoint* Checkpoints::before(std::uint64_t event) {
  const Checkpoint* from = nearest(event);
  if ((from != nullptr && event - from->event <= kNear) || is_hopeless(event)) return from;
  make(pattern(event, from == nullptr ? 0 : from->event), from);
  drop_some(event);
  return nearest(event);
}

// Makes checkpoints before `events`, as many as possible. If the replay that makes them ends early, those made so far
// remain.
void Checkpoints::make(const std::set<std::uint64_t>& events, const Checkpoint* from) {
  ReplayHelper maker(source_, {std::to_string(*events.begin()), true, true, from});
  for (const std::uint64_t event : events) {
    std::vector<Fd> passed;
    if (event != *events.begin() && !maker.tell(go_to(event))) return;
    const auto held = maker.answer(passed);
    if (!held || !held->contains("pid") || !maker.tell("c")) return;
    const auto answer = maker.answer(passed);
    if (!answer) return;
    if (answer->contains("checkpoint") && passed.size() == 1) {
      made_[event] = {event, answer->at("checkpoint").get<pid_t>(), std::move(passed.front())};
      refusal_.clear();
    } else {
      refused_.insert(event);
      refusal_ = answer->value("refused", "");
    }
  }
}

std::uint64_t Checkpoints::memory() const {
  std::uint64_t sum = 0;
  for (const auto& [event, checkpoint] : made_)
    sum += bytes_in(fmt::format("/proc/{}/smaps_rollup", checkpoint.pid), "Pss:");
  return sum;
}

// Drops checkpoints while there are too many, always the one whose loss costs least when going backward from `event`.
void Checkpoints::drop_some(std::uint64_t event) {
  const auto loss = [&](auto it) {
    if (it->first == event) return std::numeric_limits<double>::infinity();
    const double distance = std::abs(static_cast<double>(it->first) - static_cast<double>(event));
    const double before = it == made_.begin() ? 0 : static_cast<double>(std::prev(it)->first);
    return (static_cast<double>(it->first) - before) / distance;
  };
  const std::uint64_t room = bytes_in("/proc/meminfo", "MemAvailable:") / kMemoryParts;
  while (made_.size() > kMost || (made_.size() > kFewest && memory() > room)) {
    auto least = made_.begin();
    for (auto it = made_.begin(); it != made_.end(); ++it)
      if (loss(it) < loss(least)) least = it;
    made_.erase(least);
  }
}

}  // namespace reweave

// Compares runs that begin at a function, where other threads live, with the same runs made from main. For each seed it
// makes a random run from the function, and one from main: that one follows the recorded switches up to the function,
// and then the switches of the first run.
//
//   checkpoint_runs RECORDING FUNCTION RUNS [PROGRAM...]
//
// Prints how many pairs were equal, decision by decision, in their output and in their end, and the median times of
// both kinds. Exit status 1 if one pair differs. RUNS/0 only makes and times the runs from the function.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "explorer/campaign/failure_store.h"
#include "explorer/run/switches.h"
#include "explorer/run/workers.h"
#include "explorer/words/places.h"

namespace {

using namespace reweave;  // NOLINT

// Returns the events of a run from schedule point `from` on: switches, calls and their results, in order.
std::vector<std::string> story_of(const RunResult& run, std::uint64_t from) {
  std::vector<std::string> story;
  for (std::size_t at = 0; at < run.records.size();) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(run.records.data() + at);
    at += record->bytes;
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSwitch)) {
      const auto& change = *reinterpret_cast<const wire::SwitchRecord*>(record);
      if (change.step >= from)
        story.push_back(fmt::format("{} to {} at {} ({}), tick {}", record->thread, change.to, change.step,
                                    change.reason, change.tick));
    } else if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) {
      const auto& call = *reinterpret_cast<const wire::SyscallRecord*>(record);
      if (call.step >= from)
        story.push_back(fmt::format("{} calls {} at {}: {}", record->thread, call.number, call.step, call.result));
    }
  }
  story.push_back(describe_outcome(run));
  return story;
}

SwitchList joined(SwitchList first, const SwitchList& then) {
  first.preemptions.insert(first.preemptions.end(), then.preemptions.begin(), then.preemptions.end());
  first.free.insert(first.free.end(), then.free.begin(), then.free.end());
  return first;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// Returns the records of the recording after main, up to the place at which runs begin.
RunResult prefix_of(const std::string& recording, const Departure& main, const Departure& later) {
  const std::vector<std::byte> all = records_behind(recording, main), rest = records_behind(recording, later);
  RunResult prefix;
  prefix.records.assign(all.begin(), all.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return prefix;
}

std::uint64_t first_step(const RunResult& run) {
  for (std::size_t at = 0; at < run.records.size();) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(run.records.data() + at);
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSwitch))
      return reinterpret_cast<const wire::SwitchRecord*>(record)->step;
    at += record->bytes;
  }
  return 0;
}

int compare(const std::string& recording, std::uint64_t from, std::uint64_t runs, bool timed_only) {
  const auto never = std::chrono::steady_clock::time_point::max();
  Workers later(recording, from, 1, never);
  std::unique_ptr<Workers> main;
  RunResult prefix;
  if (!timed_only) {
    main = std::make_unique<Workers>(recording, 0, 1, never);
    prefix = prefix_of(recording, main->departure(), later.departure());
  }
  std::vector<double> later_seconds, main_seconds;
  std::uint64_t equal = 0, failed = 0;
  for (std::uint64_t seed = 1; seed <= runs; seed++) {
    RunRequest request;
    request.policy = "random";
    request.seed = seed;
    const RunResult run = later.run(request);
    later_seconds.push_back(run.seconds);
    failed += run.failed() ? 1 : 0;
    if (timed_only) continue;
    RunRequest again = request_of(joined(switches_of(prefix), switches_of(run)));
    const RunResult whole = main->run(again);
    main_seconds.push_back(whole.seconds);
    const std::uint64_t step = first_step(run);
    const auto wanted = story_of(run, step), got = story_of(whole, step);
    if (wanted == got) {
      equal++;
      continue;
    }
    const auto [a, b] = std::ranges::mismatch(wanted, got);
    fmt::print("seed {}: {} | {}\n", seed, a == wanted.end() ? "(end)" : *a, b == got.end() ? "(end)" : *b);
  }
  if (timed_only) equal = runs;
  fmt::print("{} of {} runs equal, {} failed; median {:.3f} ms from there, {:.3f} ms from main\n", equal, runs, failed,
             1e3 * median(later_seconds), 1e3 * median(main_seconds));
  return equal == runs ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    Places places(argv[1]);
    const std::string runs = argv[3];
    return compare(argv[1], places.address_of(argv[2]), std::stoull(runs), runs.ends_with("/0"));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

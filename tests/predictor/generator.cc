#include "tests/predictor/generator.h"

#include <algorithm>
#include <random>

namespace reweave::testing {
namespace {

// Addresses.
constexpr std::uint64_t kPrivate = 0x10000000, kCounters = 0x20000000, kSettings = 0x30000000, kPlanted = 0x40000000,
                        kLocks = 0x50000000, kPlantedLocks = 0x60000000;
// Sites of ordinary work are below, those of plants from here on.
constexpr std::uint32_t kFirstPlantSite = 1000;
constexpr std::uint32_t kCounterCount = 64, kLockCount = 8, kSettingCount = 16;

enum class Shape { kRace, kRaceLocked, kRaceOrdered, kLostUpdate, kOneSection, kDeadlock, kDeadlockGated, kShapes };

class Generator {
 public:
  Generator(const GeneratorOptions& options, const std::function<void(const TraceEvent&, std::uint32_t)>& sink)
      : options_(options), sink_(sink), random_(options.seed) {}

  std::vector<Plant> run() {
    for (std::uint32_t i = 0; i < kSettingCount; ++i) emit(0, EventKind::kWrite, kSettings + i * 8, 8, 1);
    for (std::uint32_t t = 1; t <= options_.threads; ++t) {
      emit(0, EventKind::kFork, 0, t, 2);
      emit(static_cast<ThreadId>(t), EventKind::kBegin, 0, 0, 3);
    }
    plan();
    const auto pending = [&] {
      return std::any_of(steps_.begin(), steps_.end(), [](const auto& steps) { return !steps.empty(); });
    };
    for (std::uint32_t slice = 0; count_ < options_.events || pending(); ++slice) {
      const auto t = static_cast<ThreadId>(1 + slice % options_.threads);
      const std::uint64_t end = count_ + options_.slice;
      while (count_ < end) {
        work(t);
        run_steps(t);
      }
    }
    for (std::uint32_t t = 1; t <= options_.threads; ++t) {
      emit(static_cast<ThreadId>(t), EventKind::kEnd, 0, 0, 4);
      emit(0, EventKind::kJoin, 0, t, 5);
    }
    return plants_;
  }

 private:
  // A piece of a plant: thread `thread` executes `events` once `at` events are out.
  struct Step {
    std::uint64_t at;
    std::uint32_t plant;
    bool second;  // waits for the plant's first piece
    std::vector<TraceEvent> events;
    std::vector<std::uint32_t> sites;
  };

  void emit(ThreadId t, EventKind kind, std::uint64_t address, std::uint64_t extra, std::uint32_t site,
            std::uint8_t aux = 0) {
    sink_({address, site, extra, t, kind, aux}, site);
    ++count_;
  }

  void branch(ThreadId t, std::uint32_t site) {
    if (options_.branches) emit(t, EventKind::kBranch, 0, 0, site);
  }

  void work(ThreadId t) {
    const auto choice = random_() % 10;
    if (choice < 5) {
      for (std::uint64_t i = 0; i < 4; ++i) {
        const std::uint64_t address = kPrivate + t * 0x10000u + (random_() % 512) * 8;
        emit(t, i % 2 == 0 ? EventKind::kRead : EventKind::kWrite, address, 8, 10 + static_cast<std::uint32_t>(i));
      }
    } else if (choice < 8) {
      const std::uint64_t n = random_() % kCounterCount;
      const std::uint64_t lock = kLocks + n % kLockCount * 8;
      emit(t, EventKind::kLock, lock, 0, 20);
      if (options_.data_flow) emit(t, EventKind::kRead, kCounters + n * 8, 8, 21);
      emit(t, EventKind::kWrite, kCounters + n * 8, 8, 22);
      if (n % 3 == 0) branch(t, 23);
      emit(t, EventKind::kUnlock, lock, 0, 24);
    } else {
      emit(t, EventKind::kRead, kSettings + random_() % kSettingCount * 8, 8, 30);
      branch(t, 31);
    }
  }

  void run_steps(ThreadId t) {
    auto& steps = steps_[t];
    while (!steps.empty() && steps.front().at <= count_ && (!steps.front().second || started_[steps.front().plant])) {
      const Step step = steps.front();
      steps.erase(steps.begin());
      started_[step.plant] = true;
      for (std::size_t i = 0; i < step.events.size(); ++i) {
        TraceEvent event = step.events[i];
        event.thread = t;
        emit(t, event.kind, event.address, event.extra, step.sites[i], event.aux);
      }
    }
  }

  TraceEvent access(EventKind kind, std::uint32_t n) const { return {kPlanted + n * 64, 0, 8, 0, kind, 0}; }
  TraceEvent lock(EventKind kind, std::uint32_t n, std::uint32_t which) const {
    return {kPlantedLocks + n * 64 + which * 8, 0, 0, 0, kind, 0};
  }
  void step(std::uint32_t thread, std::uint64_t at, std::vector<TraceEvent> events, std::uint32_t first_site) {
    const std::uint32_t offset = first_site - kFirstPlantSite;
    Step s{at, offset / 20, offset % 20 != 0, std::move(events), {}};
    for (std::size_t i = 0; i < s.events.size(); ++i) s.sites.push_back(first_site + static_cast<std::uint32_t>(i));
    steps_[static_cast<ThreadId>(thread)].push_back(std::move(s));
  }

  void plan() {
    for (std::uint32_t n = 0; n < options_.plants; ++n) {
      // Every second plant spans a large part of the trace.
      const std::uint64_t from = options_.events / 10 + n * (options_.events / 2) / options_.plants;
      const std::uint64_t distance = n % 2 == 0 ? 1 : options_.events / 3;
      plant(n, static_cast<Shape>(n / 2 % static_cast<std::uint32_t>(Shape::kShapes)), from, from + distance);
    }
    for (auto& steps : steps_) {
      std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    }
  }

  void plant(std::uint32_t n, Shape shape, std::uint64_t from, std::uint64_t to) {
    using enum EventKind;
    const std::uint32_t a = 1 + n % options_.threads, b = 1 + (n + 1) % options_.threads;
    const std::uint32_t site = kFirstPlantSite + n * 20, other = site + 10;
    const auto L = [&](std::uint32_t which) { return lock(kLock, n, which); };
    const auto U = [&](std::uint32_t which) { return lock(kUnlock, n, which); };
    const auto R = access(kRead, n), W = access(kWrite, n);
    const TraceEvent flag_set{kPlanted + n * 64 + 8, 0, 8, 0, kAtomicStore, 5};
    const TraceEvent flag_get{kPlanted + n * 64 + 8, 0, 8, 0, kAtomicLoad, 5};
    switch (shape) {
      case Shape::kRace:
        step(a, from, {W}, site);
        step(b, to, {L(0), U(0), W}, other);
        plants_.push_back({FindingKind::kRace, true, {site, other + 2}, "race"});
        break;
      case Shape::kRaceLocked:
        step(a, from, {L(0), W, U(0)}, site);
        step(b, to, {L(0), W, U(0)}, other);
        plants_.push_back({FindingKind::kRace, false, {site + 1, other + 1}, "both under one lock"});
        break;
      case Shape::kRaceOrdered:
        step(a, options_.events / 20, {W, flag_set}, site);  // early: it orders other plants, too
        step(b, to, {flag_get, R}, other);
        plants_.push_back({FindingKind::kRace, false, {site, other + 1}, "ordered by an atomic flag"});
        break;
      case Shape::kLostUpdate:
        step(a, from, {L(0), R, U(0), L(0), W, U(0)}, site);
        step(b, to, {L(0), W, U(0)}, other);
        plants_.push_back({FindingKind::kAtomicity, true, {site + 1, other + 1, site + 4}, "check, then act"});
        break;
      case Shape::kOneSection:
        step(a, from, {L(0), R, W, U(0)}, site);
        step(b, to, {L(0), W, U(0)}, other);
        plants_.push_back({FindingKind::kAtomicity, false, {site + 1, other + 1, site + 2}, "one section"});
        break;
      case Shape::kDeadlock:
        step(a, from, {L(0), L(1), U(1), U(0)}, site);
        step(b, to, {L(1), L(0), U(0), U(1)}, other);
        plants_.push_back({FindingKind::kDeadlock, true, {site + 1, other + 1}, "lock inversion"});
        break;
      case Shape::kDeadlockGated:
        step(a, from, {L(2), L(0), L(1), U(1), U(0), U(2)}, site);
        step(b, to, {L(2), L(1), L(0), U(0), U(1), U(2)}, other);
        plants_.push_back({FindingKind::kDeadlock, false, {site + 2, other + 2}, "lock inversion behind a gate"});
        break;
      case Shape::kShapes:
        break;
    }
  }

  GeneratorOptions options_;
  const std::function<void(const TraceEvent&, std::uint32_t)>& sink_;
  std::mt19937_64 random_;
  std::uint64_t count_ = 0;
  std::vector<bool> started_ = std::vector<bool>(options_.plants);
  std::vector<std::vector<Step>> steps_ = std::vector<std::vector<Step>>(options_.threads + 1);
  std::vector<Plant> plants_;
};

}  // namespace

std::vector<Plant> generate(const GeneratorOptions& options,
                            const std::function<void(const TraceEvent&, std::uint32_t)>& sink) {
  return Generator(options, sink).run();
}

}  // namespace reweave::testing

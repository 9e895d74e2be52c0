// Speed and memory of each pass on a synthetic trace: predict_benchmark [events [threads [slice [branches [seed]]]]].
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "predictor/model/trace_builder.h"
#include "predictor/predict.h"
#include "tests/predictor/generator.h"

using namespace reweave;

namespace {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::uint64_t number(int argc, char** argv, int i, std::uint64_t otherwise) {
  return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
}

void report(const char* name, double seconds, std::uint64_t events) {
  std::printf("%-10s %8.2f s %12.0f events/s   peak %7.0f MB", name, seconds, static_cast<double>(events) / seconds,
              peak_megabytes());
}

}  // namespace

int main(int argc, char** argv) {
  testing::GeneratorOptions options;
  options.events = number(argc, argv, 1, 1'000'000);
  options.threads = static_cast<std::uint32_t>(number(argc, argv, 2, 4));
  options.slice = static_cast<std::uint32_t>(number(argc, argv, 3, 5000));
  options.branches = number(argc, argv, 4, 1) != 0;
  options.seed = number(argc, argv, 5, 1);
  const auto start = std::chrono::steady_clock::now();
  TraceBuilder builder;
  std::uint64_t events = 0;
  const auto plants = testing::generate(options, [&](const TraceEvent& e, std::uint32_t site) {
    builder.add(e, site);
    ++events;
  });
  const TraceModel model = builder.finish();
  report("build", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), events);
  std::printf("   %llu events, %u kept, %zu variables\n", static_cast<unsigned long long>(events), model.size(),
              model.variables.size());
  PredictStats stats;
  const auto found = predict(model, {}, &stats);
  for (const auto& pass : stats.passes) {
    report(pass.name.c_str(), pass.seconds, events);
    std::printf("   groups %zu checks %zu feasible %zu undecided %zu\n", pass.groups, pass.checks, pass.feasible,
                pass.undecided);
  }
  std::printf("%zu findings%s, total %.2f s\n", found.size(), stats.out_of_time ? " (out of time)" : "",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  for (const testing::Plant& plant : plants) {
    bool hit = false;
    for (const Finding& c : found) {
      std::vector<std::uint32_t> sites;
      for (const auto& e : c.events) sites.push_back(e.site);
      hit |= c.kind == plant.kind &&
             std::is_permutation(sites.begin(), sites.end(), plant.sites.begin(), plant.sites.end());
    }
    if (hit != plant.feasible)
      std::printf("WRONG: %s %s at %u\n", kind_name(plant.kind), plant.what.c_str(), plant.sites[0]);
  }
}

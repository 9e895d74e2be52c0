// Writes a synthetic trace for scripts/bench: generate_trace EVENTS THREADS SLICE BRANCHES SEED FILE.rwt|FILE.std
// Prints a line for each plant: kind, 1 if feasible, sites separated by commas, description.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "formats/text/std_format.h"
#include "formats/trace/trace_writer.h"
#include "formats/wire.h"
#include "tests/predictor/generator.h"

using namespace reweave;

namespace {

std::array<std::uint64_t, 3> packed(const TraceEvent& e) {
  const std::uint64_t word1 = wire::pack_word1(e.pc, e.thread);
  if (wire::is_access(e.kind)) {
    const auto low = static_cast<std::uint8_t>(3 | e.aux << 4);  // all accesses are of 8 bytes
    return {wire::pack_word0(e.kind, low, e.address, false), word1, 0};
  }
  return {wire::pack_word0(e.kind, e.aux, e.address, e.extra != 0), word1, e.extra};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "usage: generate_trace EVENTS THREADS SLICE BRANCHES SEED FILE\n";
    return 2;
  }
  testing::GeneratorOptions options;
  options.events = std::strtoull(argv[1], nullptr, 10);
  options.threads = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  options.slice = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
  options.branches = std::strtoul(argv[4], nullptr, 10) != 0;
  options.seed = std::strtoull(argv[5], nullptr, 10);
  const std::string path = argv[6];
  std::vector<testing::Plant> plants;
  if (path.ends_with(".std")) {
    std::ofstream out(path, std::ios::binary);
    plants = testing::generate(
        options, [&](const TraceEvent& e, std::uint32_t site) { write_std(out, e, site, StdWriteOptions{}); });
  } else {
    std::remove(path.c_str());
    TraceWriter writer(path, {});
    plants = testing::generate(options, [&](const TraceEvent& e, std::uint32_t) { writer.append(packed(e).data()); });
    writer.finish();
  }
  for (const testing::Plant& plant : plants) {
    std::string sites;
    for (std::uint32_t site : plant.sites) sites.append(sites.empty() ? "" : ",").append(std::to_string(site));
    std::printf("%s %d %s %s\n", kind_name(plant.kind), plant.feasible ? 1 : 0, sites.c_str(), plant.what.c_str());
  }
}

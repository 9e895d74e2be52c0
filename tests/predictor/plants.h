// The designs that the generator plants: small pieces of code for two or three threads that share nothing with the rest
// of the trace. For each design it is known whether its bug is feasible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/predictor/generator.h"

namespace reweave::testing {

// Consecutive events of one actor. Pieces of a plant come one after the other. `actor` 0 and 1: threads of two
// groups; 2: of a third one; 3: a thread that the plant starts.
struct PlantEvent {
  std::uint32_t actor;
  TraceEvent event;  // its site is in pc, its thread is filled in by the generator
};
struct PlantPiece {
  std::uint32_t actor;
  bool late;  // far plants: after the distance
  std::vector<PlantEvent> events;
};
struct PlantDesign {
  Plant plant;
  std::vector<PlantPiece> pieces;
};

// The addresses, sites and threads that a design may use.
struct PlantSpace {
  std::uint64_t variables;  // address of 8 variables
  std::uint64_t locks;      // address of 8 locks
  std::uint32_t site;       // first of kPlantSites sites
  bool branches;
  ThreadId started = 0;  // thread to start
};
inline constexpr std::uint32_t kPlantSites = 40;

struct PlantRow {
  const char* what;
  std::uint32_t groups;  // needed
  bool orders;           // puts what comes after it in one group behind what comes before it in another
  PlantDesign (*make)(const PlantSpace&);
};

std::span<const PlantRow> plant_rows();

}  // namespace reweave::testing

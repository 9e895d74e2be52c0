// The designs that the generator plants: small pieces of code for two or three threads that share nothing with the rest
// of the trace. For each design it is known whether its bug is feasible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/predictor/generator.h"

namespace reweave::testing {

// An event of one actor. `actor` 0, 1 and 2: threads of three different groups; 3: a thread that the plant starts.
struct PlantEvent {
  std::uint32_t actor;
  TraceEvent event;  // pc holds the site; the generator sets the thread
};
// Consecutive events, emitted without a switch. The pieces of a plant come one after the other.
struct PlantPiece {
  std::uint32_t actor;
  bool late;  // in far plants, comes only after the plant's distance
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
  ThreadId started = 0;  // the thread that the plant starts
};
inline constexpr std::uint32_t kPlantSites = 40;

struct PlantRow {
  const char* what;
  std::uint32_t groups;  // number of groups needed
  bool orders;           // orders later events of one group after earlier ones of another
  PlantDesign (*make)(const PlantSpace&);
};

std::span<const PlantRow> plant_rows();

}  // namespace reweave::testing

// The number and the seeds of random traces in the tests against oracles. The environment variable
// REWEAVE_ORACLE_ROUNDS multiplies their number; REWEAVE_ORACLE_SEED (0 to 4,000,000) selects others.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace reweave::testing {

inline std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

inline std::uint32_t rounds() { return static_cast<std::uint32_t>(number_in_environment("REWEAVE_ORACLE_ROUNDS", 1)); }

// Returns the first seed of a test whose seeds begin at `seed`, which must be below 2^32.
inline std::uint64_t first_seed(std::uint64_t seed) {
  return (number_in_environment("REWEAVE_ORACLE_SEED", 0) << 32) + seed;
}

}  // namespace reweave::testing

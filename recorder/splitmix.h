// splitmix64 (Steele, Lea and Flood, OOPSLA 2014): a mixing function, and a random generator whose state is one word.
// Code inside the target also uses it.
#pragma once

#include <cstdint>

namespace reweave {

// The number that follows the state `word`. Each bit of the result depends on all bits of `word`, and different words
// have different results.
constexpr std::uint64_t splitmix(std::uint64_t word) {
  std::uint64_t z = word + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// The generator's next number.
constexpr std::uint64_t next_splitmix(std::uint64_t& state) {
  const std::uint64_t result = splitmix(state);
  state += 0x9e3779b97f4a7c15;
  return result;
}

}  // namespace reweave

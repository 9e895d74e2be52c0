// Functions of libraries that the analysis knows by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace reweave {

enum class KnownCall : std::uint8_t {
  kUnknown,
  kAllocates,     // returns a new block
  kAllocatesAt,   // puts the address of a new block where the argument points
  kReturnsIt,     // returns the argument
  kFrees,         // releases the block at the argument
  kCopies,        // copies from its second argument to its first
  kStartsThread,  // argument: the function; the next: what it receives; argument 0: receives the thread
  kStartsObject,  // std::thread: argument 1 points to a pointer to an object with a virtual function
  kStartsTeam,    // OpenMP: argument: the function; the next ones: what it receives from its third parameter on
  kJoins,         // waits for the thread that the argument is
  kJoinsObject,   // waits for the thread that the argument points to
  kLocks,         // argument: the lock
  kLocksShared,
  kUnlocks,
  kBarrier,    // argument: the barrier
  kOnce,       // argument: a function that is called by one thread only, before any caller continues
  kCallsBack,  // argument: a function that is called
};

struct KnownFunction {
  KnownCall call = KnownCall::kUnknown;
  std::uint8_t argument = 0;
};

KnownFunction known_function(std::string_view name);

}  // namespace reweave

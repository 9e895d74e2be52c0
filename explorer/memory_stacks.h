// The stacks behind a memory error: where the faulting access is, where its block was released and allocated, and by
// which threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/places.h"
#include "formats/event.h"

namespace reweave {

// What the runtime says of a memory error (core_api_memory_error).
struct MemoryError {
  std::string kind;           // "use after free", "double free", "heap out of bounds"
  std::uint64_t address = 0;  // the first byte that must not be used
  std::uint64_t pc = 0;       // of the access
  ThreadId thread = 0;
};
// Nothing: the text is not of a memory error.
std::optional<MemoryError> memory_error_of(const std::string& outcome_text);

// What one thread did to a block, and where: the pc, then the return addresses of its callers, innermost first.
struct BlockEvent {
  ThreadId thread = 0;
  std::vector<std::uint64_t> stack;
};

struct BlockHistory {
  std::uint64_t address = 0, bytes = 0;  // bytes: as asked for
  BlockEvent allocated;
  std::optional<BlockEvent> released;
};

struct MemoryStacks {
  BlockEvent access;
  std::optional<BlockHistory> block;  // nothing: it was allocated before anything was traced
};

// Reads them from the trace of a run that ended in `error`: of the blocks that ever were at the place, the one meant.
MemoryStacks memory_stacks(const std::string& trace, const MemoryError& error);

// In words, several lines.
std::string describe_stacks(const MemoryError& error, const MemoryStacks& stacks, Places& places);

// Replays the recording of a memory error with every event, and tells its stacks.
std::string tell_memory_error(const std::string& recording, const MemoryError& error, Places& places);

}  // namespace reweave

// The stacks of a memory error: of the faulting access, and of the release and the allocation of its block, with their
// threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/words/places.h"
#include "formats/event.h"

namespace reweave {

// A memory error as the runtime reports it (core_api_memory_error).
struct MemoryError {
  std::string kind;           // "use after free", "double free", "heap out of bounds"
  std::uint64_t address = 0;  // the first byte that must not be used
  std::uint64_t pc = 0;       // place of the access
  ThreadId thread = 0;
};
// None if the text is not that of a memory error.
std::optional<MemoryError> memory_error_of(const std::string& outcome_text);

// An operation of a thread on a block, and its stack: the pc, then the return addresses of its callers, innermost
// first.
struct BlockEvent {
  ThreadId thread = 0;
  std::vector<std::uint64_t> stack;
};

struct BlockHistory {
  std::uint64_t address = 0, bytes = 0;  // bytes: the size requested
  BlockEvent allocated;
  std::optional<BlockEvent> released;
};

struct MemoryStacks {
  BlockEvent access;
  std::optional<BlockHistory> block;  // none: it was allocated before tracing began
};

// Reads the stacks from the trace of a run that ended in `error`. Of all blocks that were ever at the address, it
// selects the one that the error is about.
MemoryStacks memory_stacks(const std::string& trace, const MemoryError& error);

// Describes the stacks in several lines. Functions of libraries are folded, unless `all_frames`.
std::string describe_stacks(const MemoryError& error, const MemoryStacks& stacks, Places& places,
                            bool all_frames = false);

// block_words() of the block; empty if the block is not known.
std::string block_text(const MemoryStacks& stacks, Places& places);

// Traces the recording of a memory error, and reads its stacks.
MemoryStacks stacks_of_recording(const std::string& recording, const MemoryError& error);

}  // namespace reweave

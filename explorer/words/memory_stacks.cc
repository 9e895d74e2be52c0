#include "explorer/words/memory_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "explorer/words/block_words.h"
#include "explorer/words/call_stacks.h"
#include "formats/base/counted.h"
#include "formats/trace/trace_reader.h"
#include "replayer/trace_recording.h"

namespace reweave {

namespace {

// Accesses beyond a block's end are detected up to this many bytes after it (recorder/shim/tsan/allocation.cc).
constexpr std::uint64_t kBlockRedZone = 64;

// The number after `label`; none if it is not there.
std::optional<std::uint64_t> number_behind(const std::string& text, const std::string& label, int base) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return {};
  std::uint64_t value = 0;
  const char* first = text.data() + at + label.size();
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value, base);
  return error == std::errc{} && end != first ? std::optional(value) : std::nullopt;
}

// Follows a trace and keeps the call stack of each thread and the blocks at the place of the error.
class Follower {
 public:
  explicit Follower(const MemoryError& error) : error_(error) {}

  void follow(const TraceReader& reader, const TraceChunk& chunk) {
    for (std::size_t i = 0; i < chunk.size(); i++) {
      const ThreadId thread = chunk.thread[i];
      const std::uint64_t pc = reader.pc_of(chunk.site[i]);
      calls_.follow(chunk, i, pc);
      if (chunk.kind[i] == EventKind::kAlloc && chunk.aux[i] != kThreadStack)
        allocate(chunk.address[i], chunk.extra[i], {thread, calls_.stack(thread, pc)});
      if (chunk.kind[i] == EventKind::kFree) release(chunk.address[i], {thread, calls_.stack(thread, pc)});
    }
  }

  MemoryStacks result() { return {{error_.thread, calls_.stack(error_.thread, error_.pc)}, block()}; }

 private:
  void allocate(std::uint64_t address, std::uint64_t bytes, BlockEvent event) {
    if (address <= error_.address && error_.address - address < bytes + kBlockRedZone)
      blocks_[address] = {address, bytes, std::move(event), {}};
  }

  void release(std::uint64_t address, BlockEvent event) {
    if (const auto at = blocks_.find(address); at != blocks_.end()) at->second.released = std::move(event);
  }

  // The released block that contained the place; for an out-of-bounds access, the live block that ends before it.
  std::optional<BlockHistory> block() const {
    const bool outside = error_.kind == "heap out of bounds";
    std::optional<BlockHistory> found;
    for (const auto& [address, block] : blocks_)  // the nearest comes last
      if (outside ? !block.released && error_.address >= address + block.bytes : error_.address < address + block.bytes)
        found = block;
    return found;
  }

  const MemoryError& error_;
  CallStacks calls_;
  std::map<std::uint64_t, BlockHistory> blocks_;  // by address: the latest there
};

// Combines consecutive frames of libraries in one line, named by the outermost function.
std::string folded(const std::vector<CodeFrame>& frames) {
  const CodeFrame& called = frames.back();
  std::string text = called.function.empty() ? called.text : called.function;
  if (frames.size() > 1) text += fmt::format(" (and {} within it)", frames.size() - 1);
  return text;
}

// One line for each function in the user's code. For library functions, only the one that the user's code called;
// callers of the user's code in libraries are left out.
std::string lines_of(const std::vector<std::uint64_t>& stack, Places& places, bool all_frames) {
  std::string text;
  std::vector<CodeFrame> libraries;  // since the last function of the user's
  auto add_line = [&](const std::string& frame) {
    text += fmt::format("\n    {} {}", text.empty() ? "in" : "by", frame);
  };
  for (const std::uint64_t pc : stack) {
    for (const CodeFrame& frame : places.frames(pc)) {
      if (frame.of_library && !all_frames) {
        libraries.push_back(frame);
        continue;
      }
      if (!libraries.empty()) add_line(folded(libraries));
      libraries.clear();
      add_line(frame.text);
    }
  }
  if (text.empty() && !libraries.empty()) add_line(folded(libraries));
  return text;
}

std::string where_in(const MemoryError& error, const BlockHistory& block) {
  const std::uint64_t offset = error.address - block.address;
  if (offset < block.bytes)
    return fmt::format("{} into a block of {}", counted(offset, "byte"), counted(block.bytes, "byte"));
  return fmt::format("{} after the end of a block of {}", counted(offset - block.bytes, "byte"),
                     counted(block.bytes, "byte"));
}

}  // namespace

std::optional<MemoryError> memory_error_of(const std::string& outcome_text) {
  const auto address = number_behind(outcome_text, " at 0x", 16);
  const auto pc = number_behind(outcome_text, ", pc 0x", 16);
  const auto thread = number_behind(outcome_text, ", thread ", 10);
  if (!address || !pc || !thread) return {};
  return MemoryError{outcome_text.substr(0, outcome_text.find(" at 0x")), *address, *pc,
                     static_cast<ThreadId>(*thread)};
}

MemoryStacks memory_stacks(const std::string& trace, const MemoryError& error) {
  TraceReader reader(trace);
  Follower follower(error);
  for (TraceChunk chunk; reader.next(chunk);) follower.follow(reader, chunk);
  return follower.result();
}

std::string describe_stacks(const MemoryError& error, const MemoryStacks& stacks, Places& places, bool all_frames) {
  std::string text = fmt::format("{} by thread {}", error.kind, error.thread);
  if (stacks.block) text += ", " + where_in(error, *stacks.block);
  text += lines_of(stacks.access.stack, places, all_frames);
  if (!stacks.block) return text + "\n  of a block that was allocated before main";
  if (const auto& released = stacks.block->released)
    text += fmt::format("\n  released by thread {}{}", released->thread, lines_of(released->stack, places, all_frames));
  const BlockEvent& allocated = stacks.block->allocated;
  return text +
         fmt::format("\n  allocated by thread {}{}", allocated.thread, lines_of(allocated.stack, places, all_frames));
}

std::string block_text(const MemoryStacks& stacks, Places& places) {
  return stacks.block ? block_words(stacks.block->bytes, stacks.block->allocated.stack, places) : "";
}

MemoryStacks stacks_of_recording(const std::string& recording, const MemoryError& error) {
  const std::string trace = recording + ".rwt";
  trace_recording(recording, trace);
  MemoryStacks stacks = memory_stacks(trace, error);
  std::filesystem::remove(trace);
  return stacks;
}

}  // namespace reweave

#include "explorer/memory_stacks.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "formats/trace_reader.h"
#include "replayer/trace_recording.h"

namespace reweave {

namespace {

// What is used behind a block's end is found so far behind it at the most (recorder/shim/tsan/allocation.cc).
constexpr std::uint64_t kRedZone = 64;

// The number behind `label`; nothing if it is not there.
std::optional<std::uint64_t> number_behind(const std::string& text, const std::string& label, int base) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return {};
  std::uint64_t value = 0;
  const char* first = text.data() + at + label.size();
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value, base);
  return error == std::errc{} && end != first ? std::optional(value) : std::nullopt;
}

// Follows a trace: the calls that each thread is in, and the blocks that were where the error is.
class Follower {
 public:
  explicit Follower(const MemoryError& error) : error_(error) {}

  void follow(const TraceReader& reader, const TraceChunk& chunk) {
    for (std::size_t i = 0; i < chunk.size(); i++) {
      std::vector<std::uint64_t>& calls = calls_[chunk.thread[i]];
      const std::uint64_t pc = reader.pc_of(chunk.site[i]);
      switch (chunk.kind[i]) {
        case EventKind::kCall:
          if (chunk.aux[i] == kEntersMain) break;
          calls.push_back(pc);
          break;
        case EventKind::kReturn:
          if (!calls.empty()) calls.pop_back();
          break;
        case EventKind::kAlloc:
          if (chunk.aux[i] != kThreadStack)
            allocate(chunk.address[i], chunk.extra[i], {chunk.thread[i], stack(chunk.thread[i], pc)});
          break;
        case EventKind::kFree:
          release(chunk.address[i], {chunk.thread[i], stack(chunk.thread[i], pc)});
          break;
        default:
          break;
      }
    }
  }

  MemoryStacks result() { return {{error_.thread, stack(error_.thread, error_.pc)}, block()}; }

 private:
  std::vector<std::uint64_t> stack(ThreadId thread, std::uint64_t pc) {
    std::vector<std::uint64_t> stack = {pc};
    const std::vector<std::uint64_t>& calls = calls_[thread];
    stack.insert(stack.end(), calls.rbegin(), calls.rend());
    return stack;
  }

  void allocate(std::uint64_t address, std::uint64_t bytes, BlockEvent event) {
    if (address <= error_.address && error_.address - address < bytes + kRedZone)
      blocks_[address] = {address, bytes, std::move(event), {}};
  }

  void release(std::uint64_t address, BlockEvent event) {
    if (const auto at = blocks_.find(address); at != blocks_.end()) at->second.released = std::move(event);
  }

  // A released block that had the place, or one in use that ends before it.
  std::optional<BlockHistory> block() const {
    const bool outside = error_.kind == "heap out of bounds";
    std::optional<BlockHistory> found;
    for (const auto& [address, block] : blocks_)  // the nearest comes last
      if (outside ? !block.released && error_.address >= address + block.bytes : error_.address < address + block.bytes)
        found = block;
    return found;
  }

  const MemoryError& error_;
  std::map<ThreadId, std::vector<std::uint64_t>> calls_;
  std::map<std::uint64_t, BlockHistory> blocks_;  // by address: the latest there
};

std::string lines_of(const std::vector<std::uint64_t>& stack, Places& places) {
  std::string text;
  for (const std::uint64_t pc : stack)
    for (const std::string& frame : places.frames(pc))
      text += fmt::format("\n    {} {}", text.empty() ? "in" : "by", frame);
  return text;
}

std::string where_in(const MemoryError& error, const BlockHistory& block) {
  const std::uint64_t offset = error.address - block.address;
  if (offset < block.bytes) return fmt::format("{} bytes into a block of {} bytes", offset, block.bytes);
  return fmt::format("{} bytes behind the end of a block of {} bytes", offset - block.bytes, block.bytes);
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

std::string describe_stacks(const MemoryError& error, const MemoryStacks& stacks, Places& places) {
  std::string text = fmt::format("{} by thread {}", error.kind, error.thread);
  if (stacks.block) text += ", " + where_in(error, *stacks.block);
  text += lines_of(stacks.access.stack, places);
  if (!stacks.block) return text + "\n  of a block that was allocated before main";
  if (const auto& released = stacks.block->released)
    text += fmt::format("\n  released by thread {}{}", released->thread, lines_of(released->stack, places));
  const BlockEvent& allocated = stacks.block->allocated;
  return text + fmt::format("\n  allocated by thread {}{}", allocated.thread, lines_of(allocated.stack, places));
}

std::string tell_memory_error(const std::string& recording, const MemoryError& error, Places& places) {
  const std::string trace = recording + ".rwt";
  trace_recording(recording, trace);
  const std::string text = describe_stacks(error, memory_stacks(trace, error), places);
  std::filesystem::remove(trace);
  return text;
}

}  // namespace reweave

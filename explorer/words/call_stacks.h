// Tracks the call stack of each thread while a trace is read.
#pragma once

#include <map>
#include <vector>

#include "formats/trace/trace_reader.h"

namespace reweave {

class CallStacks {
 public:
  // Takes event `i` of the chunk; `pc`: its place in the code. Only calls and returns have an effect.
  void follow(const TraceChunk& chunk, std::size_t i, std::uint64_t pc) {
    std::vector<std::uint64_t>& calls = calls_[chunk.thread[i]];
    if (chunk.kind[i] == EventKind::kCall && chunk.aux[i] != kEntersMain) calls.push_back(pc);
    if (chunk.kind[i] == EventKind::kReturn && !calls.empty()) calls.pop_back();
  }
  // Return addresses, innermost first.
  std::vector<std::uint64_t> callers(ThreadId thread) const {
    const auto calls = calls_.find(thread);
    if (calls == calls_.end()) return {};
    return {calls->second.rbegin(), calls->second.rend()};
  }
  // `pc`, followed by the callers of its function.
  std::vector<std::uint64_t> stack(ThreadId thread, std::uint64_t pc) const {
    std::vector<std::uint64_t> stack = callers(thread);
    stack.insert(stack.begin(), pc);
    return stack;
  }

 private:
  std::map<ThreadId, std::vector<std::uint64_t>> calls_;
};

}  // namespace reweave

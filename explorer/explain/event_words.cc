#include "explorer/explain/event_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "explorer/words/block_words.h"
#include "explorer/words/wording.h"

namespace reweave {

namespace {

const EventContext* context_of(const Explanation& explanation, const Arrival& event) {
  const auto found = explanation.contexts.find(event);
  return found == explanation.contexts.end() ? nullptr : &found->second;
}

}  // namespace

std::string block_words(const HeapBlock& block, std::uint64_t object, Places& places) {
  const std::uint64_t offset = object - block.address;
  const std::string part = offset == 0 ? "" : fmt::format("byte {} of ", offset);
  return part + block_words(block.bytes, block.allocated, places);
}

std::uint64_t user_call(const Explanation& explanation, const Arrival& event, Places& places) {
  const EventContext* context = context_of(explanation, event);
  if (context == nullptr || places.is_own(event.pc)) return 0;
  const auto own = std::ranges::find_if(context->callers, [&](std::uint64_t pc) { return places.is_own(pc); });
  return own == context->callers.end() ? 0 : *own;
}

std::string caller_words(const Explanation& explanation, const Event& event, Places& places) {
  const EventContext* context = context_of(explanation, event.name);
  const bool tells = is_sync(event.note) || (places.in_program(event.name.pc) && !places.is_own(event.name.pc));
  if (context == nullptr || !tells || user_call(explanation, event.name, places) != 0) return "";
  const auto calls = [&](std::uint64_t caller) {
    return places.in_program(caller) && places.function(caller) != places.function(event.name.pc);
  };
  const auto own = std::ranges::find_if(context->callers,
                                        [&](std::uint64_t caller) { return calls(caller) && places.is_own(caller); });
  if (own != context->callers.end()) return places.code(*own);
  // A caller without debug information may be the user's; one with debug information is a library's template.
  const auto unknown = std::ranges::find_if(context->callers, [&](std::uint64_t caller) {
    const SourceFrame* source = places.source(caller);
    return calls(caller) && (source == nullptr || source->file.empty());
  });
  return unknown == context->callers.end() ? "" : places.code(*unknown);
}

namespace {

// The user's functions that are on the stack at the event, innermost first.
std::vector<SourceFrame> own_stack(const Explanation& explanation, const Arrival& event, Places& places) {
  std::vector<SourceFrame> stack = places.own_frames(event.pc);
  if (const EventContext* context = context_of(explanation, event))
    for (const std::uint64_t caller : context->callers)
      std::ranges::copy(places.own_frames(caller), std::back_inserter(stack));
  return stack;
}

}  // namespace

std::optional<LineRange> common_lines(const Explanation& explanation, const Arrival& begin, const Arrival& end,
                                      Places& places) {
  const std::vector<SourceFrame> last = own_stack(explanation, end, places);
  std::optional<LineRange> one_line;  // of the innermost function in which both are at the same line
  for (const SourceFrame& from : own_stack(explanation, begin, places)) {
    const auto to = std::ranges::find_if(
        last, [&](const SourceFrame& frame) { return frame.function == from.function && frame.file == from.file; });
    if (to == last.end()) continue;
    LineRange lines = {from.function, from.file, std::min(from.line, to->line), std::max(from.line, to->line)};
    if (to->line != from.line) return lines;
    if (!one_line) one_line = std::move(lines);
  }
  return one_line;
}

std::string distinguishing_callers(const Explanation& explanation, const Event& event, const std::vector<Event>& others,
                                   Places& places) {
  constexpr std::size_t kMostCallers = 3;
  const auto caller = [](const std::vector<SourceFrame>& stack, std::size_t level) {
    return level < stack.size() ? frame_text(stack[level]) : "";
  };
  const std::vector<SourceFrame> stack = own_stack(explanation, event.name, places);
  std::size_t last = 0;
  for (const Event& other : others) {
    const std::vector<SourceFrame> rival = own_stack(explanation, other.name, places);
    for (std::size_t level = 1; level <= kMostCallers; level++)
      if (caller(stack, level) != caller(rival, level)) {
        last = std::max(last, level);
        break;
      }
  }
  std::string words;
  for (std::size_t level = 1; level <= last && level < stack.size(); level++)
    words += (words.empty() ? "" : ", called by ") + caller(stack, level);
  return words;
}

std::string caller_in_user_code(const Explanation& explanation, const Arrival& event, Places& places) {
  const std::vector<SourceFrame> stack = own_stack(explanation, event, places);
  return stack.size() < 2 ? "" : frame_text(stack[1]);
}

}  // namespace reweave

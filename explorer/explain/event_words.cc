#include "explorer/explain/event_words.h"

#include <fmt/format.h>

#include "explorer/wording.h"

namespace reweave {

namespace {

const EventContext* context_of(const Explanation& explanation, const Event& event) {
  const auto found = explanation.contexts.find(event.name);
  return found == explanation.contexts.end() ? nullptr : &found->second;
}

std::string block_words(const HeapBlock& block, std::uint64_t address, Places& places) {
  std::string where;
  for (const std::uint64_t pc : block.allocated)
    if (where.empty() && places.in_program(pc)) where = fmt::format(" that {} allocated", places.code(pc));
  const std::uint64_t offset = address - block.address;
  const std::string part = offset == 0 ? "" : fmt::format("byte {} of ", offset);
  return fmt::format("{}the block of {} bytes{}", part, block.bytes, where);
}

}  // namespace

std::string object_words(const Explanation& explanation, const Event& event, Places& places) {
  if (uses_block(explanation, event))
    return block_words(*context_of(explanation, event)->block, event.note.object, places);
  return object_text(event.note, places);
}

bool uses_block(const Explanation& explanation, const Event& event) {
  const EventContext* context = context_of(explanation, event);
  return context != nullptr && context->block.has_value();
}

std::string caller_words(const Explanation& explanation, const Event& event, Places& places) {
  const EventContext* context = context_of(explanation, event);
  if (context == nullptr || !is_sync(event.note)) return "";
  for (const std::uint64_t caller : context->callers)
    if (places.in_program(caller) && places.function(caller) != places.function(event.name.pc))
      return places.code(caller);
  return "";
}

}  // namespace reweave

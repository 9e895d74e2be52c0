#include "explorer/explain/way/way_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/elf/function_names.h"

namespace reweave {

namespace {

using StepKind = WayStep::Kind;

struct VerbRow {
  StepKind kind;
  const char* now;
  const char* had;
};
constexpr VerbRow kWayVerbs[] = {
    {StepKind::kCompares, "compares", "had compared"},
    {StepKind::kEnds, "ends the run", "had ended the run"},
    {StepKind::kFollows, "follows", "had followed"},
    {StepKind::kPasses, "passes", "had passed"},
    {StepKind::kUses, "uses", "had used"},
    {StepKind::kFrees, "frees", "had freed"},
    {StepKind::kReads, "reads", "had read"},
    {StepKind::kWrites, "writes", "had written"},
};

const VerbRow& row_of(StepKind kind) { return *std::ranges::find(kWayVerbs, kind, &VerbRow::kind); }

// The words after the verb.
std::string rest_words(const WayStep& step) {
  const std::string value = step.value ? value_words(*step.value) : "a value";
  switch (step.kind) {
    case StepKind::kCompares:
      return step.other ? fmt::format("{} with {}", value, value_words(*step.other)) : "two values";
    case StepKind::kEnds:
      return "with status " + value;
    case StepKind::kFollows:
      return "a pointer, to " + value;
    case StepKind::kPasses:
      return fmt::format("{} to {}", value, step.object);
    case StepKind::kUses:
      return step.object.empty() ? "memory that is not in use" : step.object;
    case StepKind::kFrees:
      return "it";
    case StepKind::kReads:
      return fmt::format("{} from {}{}", value, step.object, step.unwritten ? ", which nothing had written" : "");
    case StepKind::kWrites:
      return value + " there";
  }
  return "";
}

}  // namespace

std::string value_words(std::int64_t value) {
  constexpr std::int64_t kLeastAddress = std::int64_t{1} << 32;
  return value >= kLeastAddress || value < -kLeastAddress ? fmt::format("{:#x}", static_cast<std::uint64_t>(value))
                                                          : fmt::format("{}", value);
}

const char* way_verb(StepKind kind) { return row_of(kind).now; }

std::string way_words(const WayStep& step, bool same_thread, Places& places) {
  const bool ends = step.kind <= StepKind::kUses;
  const std::string who = same_thread ? "it" : fmt::format("thread {}", step.thread);
  const std::string function = same_thread ? "" : ", in " + places.function(step.pc);
  return fmt::format("{} {} {}{}", who, ends && !same_thread ? row_of(step.kind).now : row_of(step.kind).had,
                     rest_words(step), function);
}

}  // namespace reweave

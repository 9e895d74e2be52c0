#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "explorer/explain/report_sentences.h"
#include "explorer/explain/way/way_json.h"

namespace reweave {

namespace {

using nlohmann::json;

bool is_access(const json& step) { return step.at("does") == "reads" || step.at("does") == "writes"; }

bool overlap(const json& a, const json& b) {
  const auto first = [](const json& step) { return step.at("address").get<std::uint64_t>(); };
  const auto bytes = [](const json& step) { return step.at("bytes").get<std::uint64_t>(); };
  return first(a) < first(b) + bytes(b) && first(b) < first(a) + bytes(a);
}

// Returns what is wrong in a single step; empty if nothing is.
std::string wrong_in_step(const json& step, bool same_thread) {
  if (step.contains("file") && step.at("place") != place_sentence(step))
    return "the place does not match the file and line";
  if (is_access(step) && !step.contains("event")) return "an access without an event";
  const auto text = step.at("text").get<std::string>();
  const std::string thread = fmt::format("thread {} ", step.at("thread").get<std::uint64_t>());
  if (!text.starts_with(same_thread ? "it " : thread)) return "the text names another thread";
  return "";
}

// Checks two neighbouring steps. A write must have written what the later read saw; a read must be of the thread that
// used its value.
std::string wrong_between(const json& earlier, const json& later) {
  const bool is_write = earlier.at("does") == "writes";
  if (is_write && later.at("does") != "reads") return "a write without the read that saw it";
  if (is_write && !overlap(earlier, later)) return "a write of other bytes than were read";
  if (is_write && earlier.contains("value") && later.contains("value") && earlier.at("value") != later.at("value"))
    return "a write of a value that differs from the value read";
  if (earlier.at("does") == "reads" && earlier.at("thread") != later.at("thread") && later.at("does") != "frees")
    return "a value was read by one thread, but a different thread computed with it";
  return "";
}

// Checks that a missed write is of another thread and between the thread's read and its own write.
std::string wrong_in_missed(const json& read, const json& computed) {
  const json& missed = read.at("before");
  if (missed.at("thread") == read.at("thread")) return "it missed a write of its own";
  if (missed.at("event") <= read.at("event") || missed.at("event") >= computed.at("event"))
    return "the write that it missed is not between its read and its write";
  return overlap(missed, read) ? "" : "the write that it missed is of other bytes";
}

}  // namespace

std::string wrong_in_way(const json& way) {
  const json& steps = way.at("steps");
  if (way.at("end").get<std::string>().empty()) return "value_way: it does not say why it ends";
  const json* write = nullptr;  // the write to which the following steps lead
  for (std::size_t i = 0; i < steps.size(); i++) {
    const json& step = steps[i];
    const bool same_thread = i > 0 && steps[i - 1].at("thread") == step.at("thread");
    std::string wrong = wrong_in_step(step, same_thread);
    if (wrong.empty() && i > 0) wrong = wrong_between(step, steps[i - 1]);
    if (wrong.empty() && write != nullptr && step.at("event") >= write->at("event")) wrong = "not before the write";
    if (wrong.empty() && step.at("does") == "writes" && step.at("event") >= steps[i - 1].at("event"))
      wrong = "the write does not come before the read";
    if (wrong.empty() && step.contains("before"))
      wrong = write == nullptr ? "it missed a write, but wrote nothing" : wrong_in_missed(step, *write);
    if (!wrong.empty()) return fmt::format("value_way {}: {}", i, wrong);
    if (step.at("does") == "writes") write = &step;
  }
  return "";
}

}  // namespace reweave

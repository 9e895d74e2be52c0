#include "explorer/explain/report_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace reweave {

using nlohmann::json;

namespace {

std::string text(const json& step, const char* member) { return step.at(member).get<std::string>(); }
std::uint64_t thread(const json& step) { return step.at("thread").get<std::uint64_t>(); }

std::string object_of(const json& step) {
  const std::string object = text(step, "object");
  return object.empty() ? "it" : object;
}
std::string place_of(const json& step) {
  const std::string place = text(step, "place");
  const std::string caller = step.value("called_by", "");
  return (place.empty() ? "0x0" : place) + (caller.empty() ? "" : ", called by " + caller);
}
std::string short_text(const json& step) {
  return fmt::format("thread {} {} it in {}", thread(step), text(step, "does"), place_of(step));
}

std::string order_sentence(const json& first, const json& then) {
  const char* comma = first.value("in_block", false) ? "," : "";
  return fmt::format("{}{} before {}.", step_sentence(first), comma, short_text(then));
}
std::string block_sentence(const json& block) {
  return fmt::format("{}, after {} and before {}.", step_sentence(block.at("between")), short_text(block.at("begin")),
                     short_text(block.at("end")));
}

std::string cycle_sentence(const json& waits) {
  std::string sentence;
  for (const json& wait : waits) {
    const json &holds = wait.at("holds"), &wants = wait.at("wants");
    sentence += fmt::format("{}thread {} holds {}, taken in {}, and waits for {} in {}", sentence.empty() ? "" : "; ",
                            thread(holds), object_of(holds), place_of(holds), object_of(wants), place_of(wants));
  }
  return sentence.empty() ? sentence : sentence + ".";
}

std::string share(const json& rate) {
  if (rate.at("tried") == 0) return "not feasible";
  return fmt::format("{} of {}", rate.at("failed").get<std::uint64_t>(), rate.at("tried").get<std::uint64_t>());
}

std::string evidence(const json& flip, const json& base) {
  const json& reversed = flip.at("reversed");
  const bool feasible = reversed.at("tried") != 0, never = reversed.at("failed") == 0;
  return fmt::format(
      "  In the failing schedule, with the other order: {}{}{}.\n"
      "  In random schedules: {} fail; {} with this order forced, {} with the other order.\n",
      share(reversed), feasible ? " runs fail" : "", feasible && never ? ", so this order is necessary" : "",
      share(base), share(flip.at("forced")), share(flip.at("avoided")));
}

}  // namespace

std::string place_sentence(const json& step) {
  return fmt::format("{} ({}:{})", text(step, "function"),
                     std::filesystem::path(text(step, "file")).filename().string(),
                     step.at("line").get<std::int64_t>());
}

std::string step_sentence(const json& step) {
  const std::string object = text(step, "object"), place = text(step, "place");
  std::string sentence = fmt::format("thread {} {}", thread(step), text(step, "does"));
  if (place.empty()) return sentence;
  if (step.value("in_block", false)) return fmt::format("{}, in {}, {}", sentence, place_of(step), object);
  return sentence + (object.empty() ? "" : " " + object) + " in " + place_of(step);
}

std::string cause_sentences(const json& report) {
  const json &flips = report.at("flips"), &waits = report.at("deadlock");
  const std::string cycle = cycle_sentence(waits);
  if (flips.empty()) return cycle;
  const json& flip = flips.at(0);
  const std::string order = order_sentence(flip.at("first"), flip.at("then"));
  std::string said = flip.contains("block") ? block_sentence(flip.at("block")) : order;
  if (!waits.empty()) said = cycle + "\n  It comes about where " + order;
  return said + "\n" + evidence(flip, report.at("base"));
}

std::string remedy_sentence(const json& remedy) {
  const json &begin = remedy.at("begin"), &end = remedy.at("end");
  if (remedy.at("kind") == "order") return fmt::format("{} only after {}", place_of(end), place_of(begin));
  const bool lines =
      begin.contains("file") && end.contains("file") && begin.at("file") == end.at("file") && begin.at("line") != 0;
  if (!lines) return fmt::format("from {} to {} no other use of {}", place_of(begin), place_of(end), object_of(begin));
  const auto [first, last] = std::minmax({begin.at("line").get<std::int64_t>(), end.at("line").get<std::int64_t>()});
  const std::string range = first == last ? fmt::format("line {}", first) : fmt::format("lines {} to {}", first, last);
  return fmt::format("{} of {} not interrupted by another use of {}", range, text(begin, "function"), object_of(begin));
}

}  // namespace reweave

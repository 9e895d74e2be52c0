#include "explorer/explain/report_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "explorer/explain/remedies/remedy_words.h"
#include "explorer/explain/report_steps.h"
#include "formats/elf/function_names.h"

namespace reweave {

using nlohmann::json;

namespace {

std::string text_in(const json& step, const char* member) { return step.at(member).get<std::string>(); }
std::uint64_t thread(const json& step) { return step.at("thread").get<std::uint64_t>(); }

}  // namespace

std::string object_of(const json& step) {
  const std::string object = text_in(step, "object");
  return object.empty() ? "it" : object;
}
std::string step_place(const json& step) {
  const std::string place = text_in(step, "place");
  const std::string caller = step.value("called_by", "");
  return (place.empty() ? "0x0" : place) + (caller.empty() ? "" : ", called by " + caller);
}

namespace {

std::string short_text(const json& step) {
  return fmt::format("thread {} {} it in {}", thread(step), text_in(step, "does"), step_place(step));
}

const char* not_reached_words(const json& step) {
  return step.value("not_reached", false) ? ", which this run does not reach" : "";
}

std::string block_sentence(const json& block) {
  return fmt::format("{}, after {} and before {}{}.", step_sentence(block.at("between")), short_text(block.at("begin")),
                     short_text(block.at("end")), not_reached_words(block.at("end")));
}

// The place of `wants` without the callers that the place of `holds`, of the same thread, has named.
std::string further_place(const json& wants, const json& holds) {
  const std::string known = holds.value("called_by", "");
  std::string place = step_place(wants);
  if (!known.empty() && place.ends_with(", called by " + known))
    place.resize(place.size() - known.size() - std::string_view(", called by ").size());
  return place;
}

std::string cycle_sentence(const json& waits) {
  std::string sentence;
  for (const json& wait : waits) {
    const json &holds = wait.at("holds"), &wants = wait.at("wants");
    sentence +=
        fmt::format("{}thread {} holds {}, taken in {}, and waits for {} in {}", sentence.empty() ? "" : "; ",
                    thread(holds), object_of(holds), step_place(holds), object_of(wants), further_place(wants, holds));
  }
  return sentence.empty() ? sentence : sentence + ".";
}

// The results of the experiments. An order that the failing schedule needs to fail is not necessary in general: other
// schedules may fail without it.
std::string evidence(const json& flip, const json& base) {
  const json &reversed = flip.at("reversed"), &avoided = flip.at("avoided");
  const bool feasible = reversed.at("tried") != 0, never = reversed.at("failed") == 0;
  const bool other_ways = avoided.at("failed") != 0;
  const char* conclusion = other_ways ? ", so this schedule needs this order to fail" : ", so this order is necessary";
  return fmt::format(
      "  In the failing schedule, with the other order: {}{}{}.\n"
      "  In random schedules: {} fail; {} with this order forced, {} with the other order{}.\n",
      share_sentence(reversed), feasible ? " runs fail" : "", feasible && never ? conclusion : "", share_sentence(base),
      share_sentence(flip.at("forced")), share_sentence(avoided),
      other_ways ? ", so there are other ways to fail" : "");
}

// "A before B, and C before D."
std::string set_sentence(const json& orders) {
  std::string sentence;
  for (const json& order : orders)
    sentence += (sentence.empty() ? "" : ", and ") + order_sentence(order.at("first"), order.at("then"));
  return sentence + ".";
}

std::string set_evidence(const json& together, const json& base) {
  std::string broken;
  bool all_feasible = true;
  for (const json& order : together.at("orders")) {
    const json& rate = order.at("broken");
    broken += (broken.empty() ? "" : ", ") + share_sentence(rate);
    all_feasible = all_feasible && rate.at("tried") != 0;
  }
  return fmt::format("  In random schedules: {} fail; {} with these orders forced; with one of them reversed: {}{}.\n",
                     share_sentence(base), share_sentence(together.at("forced")), broken,
                     all_feasible ? ", so all are needed" : "");
}

}  // namespace

std::string place_sentence(const json& step) {
  return fmt::format("{} ({}:{})", short_name(text_in(step, "function")),
                     std::filesystem::path(text_in(step, "file")).filename().string(),
                     step.at("line").get<std::int64_t>());
}

std::string operation_sentence(const json& step) {
  const std::string object = text_in(step, "object"), place = text_in(step, "place");
  std::string sentence = text_in(step, "does");
  if (place.empty()) return sentence;
  if (step.value("in_block", false)) return fmt::format("{}, in {}, {}", sentence, step_place(step), object);
  return sentence + (object.empty() ? "" : " " + object) + " in " + step_place(step);
}

std::string step_sentence(const json& step) {
  return fmt::format("thread {} {}", thread(step), operation_sentence(step));
}

std::string order_sentence(const json& first, const json& then) {
  const char* comma = first.value("in_block", false) || first.contains("called_by") ? "," : "";
  return fmt::format("{}{} before {}{}", step_sentence(first), comma, short_text(then), not_reached_words(then));
}

std::string share_sentence(const json& rate) {
  if (rate.at("tried") == 0) return "not feasible";
  return fmt::format("{} of {}", rate.at("failed").get<std::uint64_t>(), rate.at("tried").get<std::uint64_t>());
}

std::string cause_sentences(const json& report) {
  const json &flips = report.at("flips"), &waits = report.at("deadlock");
  const std::string cycle = cycle_sentence(waits);
  if (!report.at("cause_shown").get<bool>() && !only_needs_order(report)) return cycle;
  if (const json orders = orders_together(report); !orders.empty())
    return set_sentence(orders) + "\n" + set_evidence(report.at("together"), report.at("base"));
  const json& flip = flips.at(0);
  const std::string order = order_sentence(flip.at("first"), flip.at("then")) + ".";
  std::string said = flip.contains("block") ? block_sentence(flip.at("block")) : order;
  if (!waits.empty()) said = cycle + "\n  It comes about where " + order;
  if (only_needs_order(report)) said = "this schedule fails only if " + said;
  return said + "\n" + evidence(flip, report.at("base"));
}

std::string cause_with_remedy(const json& report) {
  std::string said = cause_sentences(report);
  const json& remedies = report.at("remedies");
  if (said.empty() || remedies.empty()) return said;
  const json& rate = remedies.back().at("rate");
  if (rate.at("failed") != 0) return said;
  return said + fmt::format("  Tried as a remedy: {}: {} random schedules fail{}.\n", remedy_sentence(remedies.back()),
                            share_sentence(rate), near_words(remedies.back()));
}

}  // namespace reweave

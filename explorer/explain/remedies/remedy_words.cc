#include "explorer/explain/remedies/remedy_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "explorer/explain/report_sentences.h"
#include "formats/elf/function_names.h"

namespace reweave {

using nlohmann::json;

namespace {

std::string words_in(const json& step, const char* member) { return step.at(member).get<std::string>(); }

// "deposit (bank.c:23-27)"; if no function contains all of the code, "from add (a.cc:3) to get (a.cc:9)".
std::string code_words(const json& code) {
  if (!code.contains("lines")) {
    const std::string begin = step_place(code.at("begin")), end = step_place(code.at("end"));
    return begin == end ? begin : fmt::format("from {} to {}", begin, end);
  }
  const json& lines = code.at("lines");
  const auto first = lines.at("first").get<std::int64_t>(), last = lines.at("last").get<std::int64_t>();
  return fmt::format("{} ({}:{}{})", short_name(words_in(lines, "function")),
                     std::filesystem::path(words_in(lines, "file")).filename().string(), first,
                     first == last ? "" : fmt::format("-{}", last));
}

// True if the lines of `inner` are among those of `outer`.
bool is_within(const json& inner, const json& outer) {
  if (!inner.contains("lines") || !outer.contains("lines")) return code_words(inner) == code_words(outer);
  const json &a = inner.at("lines"), &b = outer.at("lines");
  return a.at("file") == b.at("file") && a.at("function") == b.at("function") && a.at("first") >= b.at("first") &&
         a.at("last") <= b.at("last");
}

// The step's place within a sentence that continues after it.
std::string place_within(const json& step) { return step_place(step) + (step.contains("called_by") ? "," : ""); }

std::string wait_words(const json& remedy) {
  return fmt::format("wait before {} until {} was executed", place_within(remedy.at("end")),
                     place_within(remedy.at("begin")));
}

std::string wait_for_all_words(const json& remedy) {
  return fmt::format("wait before {} until every thread has executed {}", place_within(remedy.at("end")),
                     step_place(remedy.at("begin")));
}

std::string wait_for_use_words(const json& remedy) {
  return fmt::format("wait before {} until every thread that executes {} has used {} for the last time",
                     place_within(remedy.at("end")), place_within(remedy.at("begin")), object_of(remedy.at("end")));
}

// True if the thread takes the lock twice: at both ends of the code, or for each of them.
bool takes_lock_twice(const json& code) {
  const json &begin = code.at("begin"), &end = code.at("end");
  if (begin.at("does") == "locks") return true;
  return begin.contains("locked_at") && end.contains("locked_at") && begin.at("locked_at") != end.at("locked_at");
}

std::string hold_over_words(const json& remedy) {
  const bool has_lock = remedy.contains("lock");
  std::string words =
      fmt::format("hold {} over {}", has_lock ? object_of(remedy.at("lock")) : "one lock", code_words(remedy));
  if (has_lock && takes_lock_twice(remedy)) words += " without releasing it in between";
  if (remedy.at("begin").at("does") == "locks") return words;  // other threads take that lock already
  const std::string uses = remedy.value("uses_of", "");
  if (const json& other = remedy.at("other"); !is_within(other, remedy))
    words += fmt::format("{} over {}", uses.empty() ? " and" : ",", code_words(other));
  if (!uses.empty()) words += fmt::format(" and around other uses of {}", uses);
  return words;
}

std::string hold_around_words(const json& remedy) {
  const json& lock = remedy.at("lock");
  return fmt::format("hold {}, which thread {} takes in {}, around {}", object_of(lock),
                     lock.at("thread").get<std::uint64_t>(), step_place(lock), code_words(remedy.at("other")));
}

std::string swap_words(const json& remedy) {
  const json &begin = remedy.at("begin"), &end = remedy.at("end");
  return fmt::format("write {} in {} before {} in {}", object_of(end), step_place(end), object_of(begin),
                     step_place(begin));
}

std::string lock_order_words(const json& remedy) {
  std::vector<std::string> locks, places;
  for (const json& wait : remedy.at("cycle")) {
    locks.push_back(object_of(wait.at("holds")));
    const std::string place = step_place(wait.at("holds"));
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  if (locks.size() == 2 && places.size() == 1)
    return fmt::format("take {} before {} every time in {}", locks[0], locks[1], places[0]);
  if (locks.size() == 2)
    return fmt::format("take {} before {} both in {} and in {}", locks[0], locks[1], places[0], places[1]);
  return fmt::format("take these locks in the same order everywhere: {}; they are taken in {}", fmt::join(locks, ", "),
                     fmt::join(places, "; in "));
}

struct Row {
  Advice advice;
  std::string_view name;
  std::string (*words)(const json&);
};
constexpr Row kRows[] = {
    {Advice::kWait, "wait", wait_words},
    {Advice::kWaitForAll, "wait_for_all", wait_for_all_words},
    {Advice::kWaitForUse, "wait_for_use", wait_for_use_words},
    {Advice::kHoldOver, "hold_over", hold_over_words},
    {Advice::kHoldAround, "hold_around", hold_around_words},
    {Advice::kSwap, "swap", swap_words},
    {Advice::kLockOrder, "lock_order", lock_order_words},
};

}  // namespace

std::string_view name_of(Advice advice) { return std::ranges::find(kRows, advice, &Row::advice)->name; }

std::string remedy_sentence(const json& remedy) {
  const auto advice = remedy.at("advice").get<std::string>();
  const auto* row = std::ranges::find(kRows, advice, &Row::name);
  return row == std::end(kRows) ? "" : row->words(remedy);
}

std::string near_words(const json& remedy) {
  if (!remedy.contains("near")) return "";
  const json& near = remedy.at("near");
  return fmt::format("; of schedules that begin like the failing one, {} fail; without it {}",
                     share_sentence(near.at("with")), share_sentence(near.at("without")));
}

}  // namespace reweave

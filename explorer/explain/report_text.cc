#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "explorer/explain/remedies/remedy_words.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_sentences.h"
#include "explorer/explain/report_steps.h"
#include "formats/base/counted.h"
#include "formats/elf/source_lines.h"

namespace reweave {

namespace {

using nlohmann::json;

std::string member_text(const json& row, const char* member) { return row.at(member).get<std::string>(); }
std::uint64_t member_number(const json& row, const char* member) { return row.at(member).get<std::uint64_t>(); }

// Small shares have a decimal, because "0.3 %" is not zero.
std::string percent(double share) {
  const double value = share * 100;
  return value > 0 && value < 1 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

// One word for the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string rate_interval(const json& rate) {
  return fmt::format("{} to {}", percent(rate.at("low").get<double>()), percent(rate.at("high").get<double>()));
}

// "bank.c:17"; if the line is not known, the function or the address.
std::string line_words(const json& step) {
  if (!step.contains("file")) return member_text(step, "place");
  return fmt::format("{}:{}", std::filesystem::path(member_text(step, "file")).filename().string(),
                     step.at("line").get<std::int64_t>());
}

class TextReport {
 public:
  TextReport(const json& report, bool full) : report_(report), full_(full) {}

  std::string whole() const {
    std::string text = "The failure: " + failure() + "\n";
    if (const std::string words = member_text(report_, "last_words"); !words.empty())
      text += fmt::format("  {}\n", words);
    if (const std::string cause = member_text(report_, "cause"); !cause.empty())
      text += (only_needs_order(report_) ? "\nNo order was shown to make other schedules fail; " : "\nThe cause: ") +
              cause + lines_of_cause();
    else if (!report_.at("flips").empty())
      text +=
          "\nNo order of two events was shown to decide whether the run fails. The orders that were tried are below.\n";
    text += way() + curve();
    const json& remedies = report_.at("remedies");
    for (const json& remedy : remedies)
      if (full_ || &remedy == &remedies.back()) text += remedy_text(remedy);
    text += flips_table() + patterns_table();
    text += "\n" + counted(member_number(report_, "runs"), "run") + " made for this.\n";
    for (const json& note : report_.at("notes")) text += fmt::format("Not examined: {}.\n", note.get<std::string>());
    if (report_.at("out_of_time").get<bool>())
      text += "The time limit ended the experiments early; some were not tried.\n";
    return text;
  }

 private:
  // The cause tells which threads of a cycle wait for each other, so these lines are left out.
  std::string failure() const {
    constexpr std::size_t kMostLines = 10;
    const std::string failure = member_text(report_, "failure");
    if (!report_.at("deadlock").empty()) return first_line(failure);
    std::size_t end = 0;
    for (std::size_t lines = 0; end != failure.npos && lines < kMostLines; lines++)
      end = failure.find('\n', lines == 0 ? 0 : end + 1);
    return failure.substr(0, end) + (end == failure.npos ? "" : "\n  more threads wait: --json");
  }

  // The source lines of the cause's steps, in the order of the failing run.
  std::string lines_of_cause() const {
    std::string text = "\n";
    for (const json& step : steps_of_cause(report_))
      if (step.contains("file"))
        text += fmt::format("  thread {:<3} {}:{:<5} {}\n", member_number(step, "thread"),
                            std::filesystem::path(member_text(step, "file")).filename().string(),
                            step.at("line").get<std::int64_t>(), member_text(step, "source"));
    return text;
  }

  std::string way() const {
    constexpr std::size_t kMostOfWay = 8;  // on one screen
    const json &way = report_.at("value_way"), &steps = way.at("steps");
    if (steps.empty()) return "";
    std::string text = "\nOrigin of the value, newest step first:\n";
    std::size_t shown = 0;
    for (; shown < steps.size() && (full_ || shown < kMostOfWay); shown++) {
      const json& step = steps[shown];
      text += fmt::format("  {:<18} {}", line_words(step), member_text(step, "text"));
      if (step.contains("before"))
        text += fmt::format(", before thread {} wrote there ({})", member_number(step.at("before"), "thread"),
                            line_words(step.at("before")));
      text += "\n";
    }
    if (shown < steps.size()) return text + fmt::format("  {} more: --full\n", steps.size() - shown);
    return text + fmt::format("  The trace of the value ends here: {}.\n", member_text(way, "end"));
  }

  std::string curve() const {
    const json &at = report_.at("inevitable"), &curve = report_.at("curve"), &step = report_.at("inevitable_step");
    if (at.is_null()) return "";
    const auto index = at.get<std::size_t>();
    const bool some_left = member_number(report_.at("base"), "let_go") != 0;
    if (index == 0)
      return some_left ? "\nEvery schedule followed to its end fails.\n" : "\nEvery schedule tried fails.\n";
    if (step.is_null()) return "";
    return fmt::format("\nInevitable once {}: from there on {} runs fail, just before {}.\n", step_sentence(step),
                       share_sentence(curve[index].at("rate")), share_sentence(curve[index - 1].at("rate")));
  }

  std::string remedy_text(const json& remedy) const {
    const json& rate = remedy.at("rate");
    const bool prevents = member_number(rate, "failed") == 0;
    std::string text = fmt::format(
        "\nTried as a remedy{}: {}: {} random schedules {}fail ({} at 95 % confidence); "
        "without it {}{}.\n",
        prevents ? "" : " without success", member_text(remedy, "text"), share_sentence(rate), prevents ? "" : "still ",
        rate_interval(rate), share_sentence(report_.at("base")), near_words(remedy));
    const std::string assumption = member_text(remedy, "assume");
    if (!assumption.empty())
      text += fmt::format("  To search with this assumption: explore --assume {}\n", quoted(assumption));
    return text;
  }

  std::string flips_table() const {
    constexpr std::size_t kMost = 4;
    const json& flips = report_.at("flips");
    if (flips.empty() || (flips.size() < 2 && report_.at("cause_shown").get<bool>() && !full_)) return "";
    std::string text = fmt::format("\n{:>8} {:>8} {:>8}  runs that fail, by the order of two events\n", "reversed",
                                   "forced", "avoided");
    for (std::size_t i = 0; i < flips.size() && (full_ || i < kMost); i++)
      text += fmt::format("{:>8} {:>8} {:>8}  {}\n", cell(flips[i].at("reversed")), cell(flips[i].at("forced")),
                          cell(flips[i].at("avoided")), order_sentence(flips[i].at("first"), flips[i].at("then")));
    if (flips.size() > kMost && !full_) text += fmt::format("{} more: --full\n", flips.size() - kMost);
    return text;
  }
  static std::string cell(const json& rate) {
    if (member_number(rate, "tried") == 0) return "-";
    return fmt::format("{}/{}", member_number(rate, "failed"), member_number(rate, "tried"));
  }

  std::string patterns_table() const {
    const json& patterns = report_.at("patterns");
    if (!full_ || patterns.empty()) return "";
    std::string text = fmt::format("\n{:>9} {:>5}  access patterns by suspiciousness\n", "suspicion", "rank");
    for (const json& pattern : patterns) {
      const json& accesses = pattern.at("accesses");
      std::string said;
      for (const json& access : accesses)
        said += fmt::format("{}{} {}", said.empty() ? "" : ", then ",
                            access.at("thread") == accesses.front().at("thread") ? "one thread" : "another",
                            operation_sentence(access));
      const std::uint64_t best = member_number(pattern, "best_rank"), worst = member_number(pattern, "worst_rank");
      const std::string rank = best == worst ? fmt::format("{}", best) : fmt::format("{}-{}", best, worst);
      text += fmt::format("{:>9.2f} {:>5}  {}\n", pattern.at("suspiciousness").get<double>(), rank, said);
    }
    return text;
  }

  const json& report_;
  bool full_;
};

}  // namespace

std::string text_report(const json& report, bool full) { return TextReport(report, full).whole(); }

}  // namespace reweave

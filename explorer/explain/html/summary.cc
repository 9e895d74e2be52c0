#include "explorer/explain/html/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "explorer/explain/html/figures.h"
#include "explorer/explain/remedies/remedy_words.h"
#include "explorer/explain/report_steps.h"
#include "explorer/words/escaping.h"

namespace reweave {

using nlohmann::json;

namespace {

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

Html tile(const json& rate, const std::string& text, const char* remark) {
  const bool feasible = rate.at("tried") != 0;
  return element("li", {},
                 {element("strong", {}, {count_text(rate)}), element("span", {}, {text}), interval_drawing(rate),
                  element("small", {}, {feasible ? interval_text(rate) : "", remark})});
}

Html experiments(const json& report) {
  Html tiles = tile(report.at("base"), "random schedules fail", "");
  if (const json orders = orders_together(report); !orders.empty()) {
    tiles += tile(report.at("together").at("forced"), "fail with these orders forced", "");
    for (std::size_t i = 0; i < orders.size(); i++)
      tiles += tile(orders.at(i).at("broken"), fmt::format("fail with order {} of them reversed", i + 1), "");
  } else if (report.at("cause_shown").get<bool>() || only_needs_order(report)) {
    const json& flip = report.at("flips").at(0);
    tiles += tile(flip.at("forced"), "fail with this order forced", "");
    tiles += tile(flip.at("avoided"), "fail with the other order", "");
    tiles += tile(flip.at("reversed"), "fail in the failing schedule with the other order",
                  flip.at("necessary").get<bool>() ? ": the order is necessary" : "");
  }
  tiles += element(
      "li", {},
      {element("strong", {}, {fmt::format("{}", report.at("runs").get<std::uint64_t>())}),
       element("span", {}, {"runs were made for this report"}), element("small", {}, {"intervals: 95 % confidence"})});
  return element("ul", {{"class", "tiles"}}, {tiles});
}

Html command(const std::string& text, const char* what) {
  return element("li", {}, {element("code", {{"class", "command"}}, {text}), element("span", {}, {what})});
}

}  // namespace

Html failure_header(const json& report, const std::string& recording) {
  const std::vector<std::string> outcome = text_lines(report.at("failure").get<std::string>());
  Html header = element("p", {{"class", "kicker"}}, {"Why this run fails: ", element("span", {}, {recording})});
  header += element("h1", {}, {outcome.empty() ? "It fails" : capitalised(outcome.front())});
  for (std::size_t i = 1; i < outcome.size(); i++) header += element("p", {{"class", "said"}}, {outcome[i]});
  const auto words = report.at("last_words").get<std::string>();
  if (!words.empty()) header += element("pre", {{"class", "said"}}, {words});
  return element("header", {}, {header});
}

Html cause_section(const json& report) {
  const std::vector<std::string> said = text_lines(report.at("cause").get<std::string>());
  if (said.empty())
    return section("cause", "The cause",
                   element("p", {{"class", "sentence"}},
                           {"No order of events was found that decides between failing and passing."}));
  Html content = element("p", {{"class", "sentence"}}, {capitalised(said.front())});
  for (std::size_t i = 1; i < said.size(); i++)  // the other sentences are in the tiles
    if (!said[i].starts_with("In ")) content += element("p", {}, {said[i]});
  Html lines;
  for (const json& step : steps_of_cause(report)) lines += step_line(step);
  content += element("ol", {{"class", "steps"}}, {lines});
  content += experiments(report);
  const json& moment = report.value("inevitable_step", json());
  if (!moment.is_null()) {
    content += element("p", {}, {"From this step on every run failed:"});
    content += element("ol", {{"class", "steps"}}, {step_line(moment)});
  }
  const char* title =
      only_needs_order(report) ? "No cause proved; this schedule fails only with this order of events" : "The cause";
  return section("cause", title, content);
}

Html way_section(const json& report) {
  const json way = report.value("value_way", json::object());
  const json steps = way.value("steps", json::array());
  if (steps.empty()) return {};
  Html lines;
  for (const json& step : steps) {
    auto text = step.at("text").get<std::string>();
    if (step.contains("before")) {
      const json& before = step.at("before");
      text += fmt::format(", before thread {} wrote there in {}", before.at("thread").get<std::uint64_t>(),
                          before.at("place").get<std::string>());
    }
    const std::string source = step.value("source", "");
    lines += element("li", {},
                     {text, " (", place_text(step), ")",
                      source.empty() ? Html() : element("code", {{"class", "source"}}, {source})});
  }
  Html content = element("ol", {{"class", "steps"}}, {lines});
  content += element("p", {}, {"The trace of the value ends here: " + way.at("end").get<std::string>() + "."});
  return section("way", "Origin of the value, newest step first", content);
}

Html remedies_section(const json& report) {
  const json& remedies = report.at("remedies");
  Html list;
  for (std::size_t i = remedies.size(); i-- > 0;) {  // a remedy that works is the last one
    const json& rate = remedies[i].at("rate");
    const bool works = rate.at("failed") == 0;
    const auto text = remedies[i].at("text").get<std::string>();
    list += element(
        "li", {{"class", works ? "works" : "fails"}},
        {element("p", {{"class", "sentence"}}, {capitalised(text)}),
         element("p", {},
                 {element("b", {}, {count_text(rate)}), " random schedules fail under it (", interval_text(rate),
                  "); without it ", count_text(report.at("base")), near_words(remedies[i]), "."}),
         interval_drawing(rate)});
  }
  if (list.markup().empty()) return {};
  return section("remedies", remedies.size() == 1 ? "The remedy that was tried" : "Remedies that were tried",
                 element("ul", {{"class", "remedies"}}, {list}));
}

Html commands_section(const std::string& recording) {
  const std::string name = shell_word(recording);
  return section(
      "again", "See it again",
      element("ul", {{"class", "commands"}},
              {command("reweave replay -g end " + name + " --backward",
                       "opens gdb at the end of the run, from where it can go back"),
               command("reweave replay " + name, "replays the run, with its output"),
               command("reweave explain --full " + name, "repeats these experiments and prints all tables")}));
}

Html notes_section(const json& report) {
  Html list;
  for (const json& note : report.at("notes")) list += element("li", {}, {"Not examined: " + note.get<std::string>()});
  if (report.at("out_of_time").get<bool>())
    list += element("li", {}, {"The time limit ended the experiments early; some were not tried."});
  if (list.markup().empty()) return {};
  return section("notes", "Limits of this report", element("ul", {}, {list}));
}

}  // namespace reweave

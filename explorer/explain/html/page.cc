#include "explorer/explain/html/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "explorer/explain/html/assets.h"
#include "explorer/explain/html/markup.h"
#include "explorer/explain/html/packed_report.h"
#include "explorer/explain/html/page_head.h"
#include "explorer/explain/html/summary.h"
#include "explorer/explain/html/tables.h"
#include "explorer/explain/report.h"
#include "explorer/explain/report_check.h"
#include "formats/elf/source_lines.h"

namespace reweave {

using nlohmann::json;

namespace {

constexpr std::size_t kMostPageBytes = 400'000;

// The section in which the script draws the schedules.
Html schedules_section() {
  Html content =
      element("noscript", {}, {element("p", {}, {"The two schedules are drawn by a script, which is off."})});
  content += element("div", {{"id", "schedules"}}, {});
  return element("section", {{"id", "steps"}},
                 {element("h2", {}, {"The failing schedule, and the nearest that passes"}), content});
}

Html body(const json& report, const std::string& recording, const json& packed) {
  Html content = failure_header(report, recording);
  Html sections = cause_section(report);
  sections += way_section(report);
  sections += remedies_section(report);
  sections += commands_section(recording);
  sections += notes_section(report);
  sections += schedules_section();
  sections += flips_section(report);
  sections += curve_section(report);
  sections += patterns_section(report);
  content += element("main", {}, {sections});
  content += element("footer", {}, {"Made by reweave explain. Every figure is a count of runs that were made."});
  content += element("script", {{"type", "application/json"}, {"id", "report"}}, {Html::trusted(data_block(packed))});
  content += element("script", {}, {Html::trusted(kReportScript)});
  return element("body", {}, {content});
}

}  // namespace

std::string html_report(const json& report, const std::string& recording) {
  const json shown = shown_report(report);
  const std::string name = visible(recording);
  std::string page;
  for (std::size_t most = 10'000; most > 0; most /= 2) {
    Html root = page_head("Why it fails: " + first_line(shown.at("failure").get<std::string>()), kReportScriptHash);
    root += body(shown, name, packed_report(shown, most));
    page = "<!DOCTYPE html>\n" + element("html", {{"lang", "en"}}, {root}).markup() + "\n";
    if (page.size() <= kMostPageBytes) break;
  }
  return page;
}

std::string html_report(const Explanation& explanation, Places& places, const std::string& recording) {
  return html_report(checked_report(explanation, places), recording);
}

}  // namespace reweave

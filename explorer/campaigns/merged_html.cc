// The pages of a merged campaign, in the style of explain's report: without scripts, without requests to other files,
// and with all text escaped.
#include <fmt/format.h>

#include <algorithm>

#include "explorer/campaign/campaign_report.h"
#include "explorer/campaigns/merged_reports.h"
#include "explorer/explain/html/markup.h"
#include "explorer/explain/html/page_head.h"
#include "explorer/words/escaping.h"

namespace reweave {

namespace {

Html visible_text(const std::string& any) { return visible(any); }

Html page(const std::string& title, const Html& content) {
  const Html footer = element("footer", {}, {"Made by reweave campaign merge."});
  const Html body = element("body", {}, {content, footer});
  return Html::trusted("<!DOCTYPE html>\n" +
                       element("html", {{"lang", "en"}}, {page_head(visible_text(title)), body}).markup() + "\n");
}

Html row(std::initializer_list<Html> cells, const char* name = "td") {
  Html all;
  for (const Html& cell : cells) all += element(name, {}, {cell});
  return element("tr", {}, {all});
}

Html wide_table(const Html& head, const Html& rows) {
  return element("div", {{"class", "wide"}},
                 {element("table", {}, {element("thead", {}, {head}), element("tbody", {}, {rows})})});
}

Html section_element(const char* id, const char* title, const Html& content) {
  return element("section", {{"id", id}}, {element("h2", {}, {title}), content});
}

Html number_text(std::uint64_t number) { return fmt::format("{}", number); }

std::size_t reproduced(const MergedCase& one) {
  return static_cast<std::size_t>(std::ranges::count_if(one.failures, &KeptFailure::reproduced));
}

Html linked_name(const MergedCase& one, std::size_t index) {
  if (!has_page(one)) return visible_text(one.name);
  return element("a", {{"href", case_page_name(index)}}, {visible_text(one.name)});
}

Html causes_section(const Merged& merged) {
  Html rows;
  for (const MergedCause& cause : merged.causes) {
    Html places;
    for (std::size_t i = 0; i < cause.places.size() && i < 20; i++) {
      if (i > 0) places += ", ";
      places += linked_name(merged.cases[cause.places[i].case_index], cause.places[i].case_index);
    }
    if (cause.places.size() > 20) places += fmt::format(" and {} more", cause.places.size() - 20);
    rows += row({visible_text(cause.what), element("code", {}, {visible_text(cause.functions)}),
                 number_text(cause.runs), places});
  }
  return section_element("causes", "Causes",
                         wide_table(row({"how it ends", "functions", "failing runs", "recordings"}, "th"), rows));
}

Html cases_section(const Merged& merged) {
  Html rows;
  for (std::size_t i = 0; i < merged.cases.size(); i++) {
    const MergedCase& one = merged.cases[i];
    const std::size_t failures = reproduced(one);
    rows += row({linked_name(one, i), fmt::format("{} of {}", one.findings.done, one.findings.units),
                 number_text(one.findings.runs), number_text(one.findings.examined),
                 failures > 0 ? element("b", {{"class", "yes"}}, {number_text(failures)}) : number_text(0),
                 element("span", {{"class", "remark"}}, {visible_text(remark_of(one.findings))})});
  }
  return section_element("cases", "Recordings",
                         wide_table(row({"recording", "units", "runs", "examined", "failures", ""}, "th"), rows));
}

Html run_section(const char* title, const KeptFailure& failure) {
  Html content = element("p", {{"class", "sentence"}}, {visible_text(failure.what)});
  if (!failure.last_words.empty()) content += element("pre", {{"class", "said"}}, {visible_text(failure.last_words)});
  content += element("pre", {{"class", "said"}}, {visible(details_of(failure, "--minimise"), 100'000)});
  const std::string command = shell_command({"reweave", "replay", "-g", "end", failure.path});
  content += element("p", {}, {element("code", {}, {visible_text(command)})});
  return element("section", {}, {element("h2", {}, {title}), content});
}

}  // namespace

bool has_page(const MergedCase& one) {
  return !one.failures.empty() || !one.suspected.empty() || !one.not_again.empty();
}

std::string case_page_name(std::size_t case_index) { return fmt::format("case-{}.html", case_folder(case_index)); }

std::string merged_html(const Merged& merged) {
  Html content = element("header", {},
                         {element("p", {{"class", "kicker"}}, {"reweave campaign"}),
                          element("h1", {}, {visible_text(merged_verdict(merged))})});
  Html sections;
  if (!merged.causes.empty()) sections += causes_section(merged);
  sections += cases_section(merged);
  content += element("main", {}, {sections});
  return page("reweave campaign", content).markup();
}

std::string case_html(const MergedCase& merged) {
  Html content =
      element("header", {},
              {element("p", {{"class", "kicker"}}, {element("a", {{"href", "index.html"}}, {"all recordings"})}),
               element("h1", {}, {visible_text(merged.name)})});
  Html sections;
  for (const KeptFailure& failure : merged.failures)
    sections +=
        run_section(failure.reproduced() ? "A failure" : "Not reproduced: does not fail in each replay", failure);
  for (const KeptFailure& run : merged.suspected)
    sections += run_section("May fail: could not be followed to its end", run);
  Html lost;
  for (const std::string& failure : merged.not_again) lost += element("li", {}, {visible_text(failure)});
  if (!merged.not_again.empty()) sections += section_element("lost", "Did not fail again", element("ul", {}, {lost}));
  content += element("main", {}, {sections});
  return page(merged.name, content).markup();
}

}  // namespace reweave

#include "predictor/suspects/suspects_command.h"

#include <fmt/core.h>

#include <memory>

#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/number_check.h"
#include "formats/code/summary_format.h"
#include "formats/elf/elf_sections.h"
#include "predictor/suspects/suspects.h"
#include "predictor/suspects/suspects_report.h"

namespace reweave {

namespace {

struct SuspectsArguments {
  std::vector<std::string> files;
  std::size_t most = 20;
  bool all = false, json = false, sarif = false;
};

void suspects(const SuspectsArguments& arguments) {
  std::vector<std::string> sections;
  for (const std::string& file : arguments.files) {
    sections.push_back(section_of(open_regular(file), kSummarySection));
    REQUIRE(!sections.back().empty(), "{} was not compiled by reweave-cc or reweave-c++, which leave what this needs",
            file);
  }
  const SuspectReport report = find_suspects(sections);
  fmt::print("{}", arguments.json    ? suspects_json(report)
                   : arguments.sarif ? suspects_sarif(report)
                                     : suspects_text(report, arguments.most, arguments.all));
}

}  // namespace

void add_suspects_command(CLI::App& app) {
  auto arguments = std::make_shared<SuspectsArguments>();
  CLI::App* verb = app.add_subcommand("suspects", "list accesses that may race, without running the program");
  verb->footer(
      "Needs a build with reweave-cc or reweave-c++, which leave a summary in each object file (docs/suspects.md).\n"
      "Lists pairs of accesses to the same memory, one of them a write, that threads may make at the same time "
      "without\n"
      "a common lock; the most suspicious first. A pair may be harmless, and bugs may be missed.");
  verb->add_option("files", arguments->files, "the program, and its libraries that were built in the same way")
      ->required();
  verb->add_option("--most", arguments->most, "number of pairs to show; 0: all")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_flag("--all", arguments->all, "also list conflicting pairs that are not suspected, by reason");
  CLI::Option* json = verb->add_flag("--json", arguments->json, "print everything as JSON (docs/suspects.md)");
  verb->add_flag("--sarif", arguments->sarif, "print SARIF 2.1.0 for code-scanning viewers")->excludes(json);
  verb->callback([arguments] { suspects(*arguments); });
}

}  // namespace reweave

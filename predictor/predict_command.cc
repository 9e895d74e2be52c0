#include "predictor/predict_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

#include "formats/error.h"
#include "predictor/analysis.h"
#include "predictor/candidate_output.h"
#include "predictor/code_names.h"
#include "predictor/predict.h"
#include "predictor/report.h"
#include "predictor/trace_input.h"

namespace reweave {
namespace {

struct PredictArguments {
  std::string trace;
  std::string output;
  bool witness = false;
  PredictOptions options;
};

// One line on a terminal that says how far we are, rewritten in place.
class Progress {
 public:
  void show(const std::string& text) {
    if (!terminal_) return;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }
  ~Progress() { clear(); }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

Names names_of(CodeNames& code) {
  Names names;
  names.site = [&code](std::uint32_t site) { return code.text(site); };
  names.inlined_into = [&code](std::uint32_t site) { return code.inlined_into(site); };
  names.source_line = [&code](std::uint32_t site) { return code.source_line(site); };
  names.hidden = [&code](std::uint32_t site) { return code.of_runtime(site); };
  names.outermost = [&code](std::uint32_t site) { return code.starts_thread(site); };
  names.address = [&code](std::uint64_t address) { return code.data(address & kAddressMask); };
  return names;
}

Names names_of(const StdNames& std_names) {
  Names names;
  names.address = [&std_names](std::uint64_t address) { return std_names.name_of(address); };
  names.thread = [&std_names](ThreadId thread) { return "thread " + std_names.threads().at(thread); };
  return names;
}

std::vector<Finding> find(const TraceModel& model, const PredictOptions& options, PredictStats& stats) {
  try {
    return predict(model, options, &stats);
  } catch (const std::invalid_argument& unknown) {
    throw BadInput(unknown.what());
  }
}

void run(const PredictArguments& arguments) {
  Progress progress;
  TraceInput input(arguments.trace);
  progress.show("reading");
  const TraceModel model = input.load([&](std::uint64_t done, std::uint64_t all) {
    progress.show(all ? fmt::format("reading: {}%", done * 100 / all) : fmt::format("reading: {} events", done));
  });
  progress.clear();
  if (input.damage()) {
    fmt::print(stderr, "reweave: {}\nreweave: analysing the {} events before that\n", *input.damage(), input.events());
  }
  progress.show(fmt::format("analysing {} events, at most {} s", model.size(), arguments.options.budget_seconds));
  PredictStats stats;
  const std::vector<Finding> findings = find(model, arguments.options, stats);
  std::optional<CodeNames> code;
  if (input.reader()) code.emplace(*input.reader());
  const Names names = code ? names_of(*code) : names_of(input.std_names());
  progress.clear();
  write_report(std::cout, model, findings, names, {.witness = arguments.witness});
  std::cout.flush();
  if (stats.out_of_time) fmt::print(stderr, "reweave: the time was used up; --budget gives more\n");
  if (arguments.output.empty()) return;
  progress.show("writing witnesses");
  write_candidates(arguments.output, candidates_of(input, model, findings, code ? &*code : nullptr, names));
}

std::string known_analyses() {
  std::string known;
  for (const AnalysisRow& row : all_analyses()) known += fmt::format("\n  {:<10} {}", row.name, row.summary);
  return known;
}

}  // namespace

void add_predict_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* verb = app.add_subcommand(
      "predict", "find bugs that the run of a trace could have had, had threads been faster or slower");
  verb->footer("Analyses:" + known_analyses());
  verb->add_option("trace", arguments->trace, "a trace (*.rwt), or text in STD format (*.std)")->required();
  verb->add_option("-o,--output", arguments->output, "file to write candidates to, for 'explore'");
  verb->add_flag("--witness", arguments->witness, "show for each bug an order of events that leads to it");
  verb->add_option("--analysis", arguments->options.analyses, "only these")->delimiter(',')->type_name("NAMES");
  verb->add_option("--budget", arguments->options.budget_seconds, "stop looking after so long; default: 60")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  verb->callback([arguments, &status] {
    run(*arguments);
    status = 0;
  });
}

}  // namespace reweave

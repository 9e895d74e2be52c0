#include "predictor/predict_command.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/json_text.h"
#include "formats/base/number_check.h"
#include "formats/base/output_file.h"
#include "formats/base/progress_line.h"
#include "formats/base/sandbox.h"
#include "formats/base/terminal.h"
#include "formats/recording/manifest.h"
#include "formats/trace/traceinfo.h"
#include "predictor/decide/analysis.h"
#include "predictor/decide/decision_journal.h"
#include "predictor/detectors/detector.h"
#include "predictor/model/access_classes.h"
#include "predictor/model/code_names.h"
#include "predictor/model/recording_trace.h"
#include "predictor/model/trace_input.h"
#include "predictor/predict.h"
#include "predictor/report/candidate_output.h"
#include "predictor/report/finding_formats.h"
#include "predictor/report/report.h"
#include "predictor/witness/witness_steps.h"

namespace reweave {
namespace {

struct PredictArguments {
  std::string trace;
  std::string name;          // name of the trace in candidates; empty: the path
  TraceShortfall shortfall;  // if the trace was made by this command
  std::string output;
  std::string format = "text";
  bool witness = false;
  std::size_t explain = 0;
  std::vector<std::string> analyses;
  PredictOptions options;
};

// Set by Ctrl-C: stop and show the findings so far.
std::atomic<bool> interrupted{false};

// Names accepted by --analysis that select how proposals are checked, not which proposals are made.
struct EngineRow {
  const char* name;
  const char* summary;
  bool keep_order;
};
constexpr EngineRow kEngines[] = {
    {"syncp", "all of the above, except that critical sections keep their order", true},
    {"seqcheck", "all of the above; the default", false},
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

void write_machine_readable(const std::string& format, const CandidateSet& set, const TraceInput& input,
                            const LeftOut& left_out) {
  const std::string damage = input.damage() ? input.damage()->reason : "";
  const auto text = format == "sarif" ? findings_sarif : findings_json;
  std::cout << json_text(text(set, damage, left_out, input.reads())) << '\n';
}

// Prints, after the findings, what the limits left out.
void write_left_out(const LeftOut& left_out) {
  if (left_out.findings > 0)
    std::cout << "left out: " + counted(left_out.findings, "finding") + " of low rank; --findings shows more\n";
  if (left_out.instances > 0)
    std::cout << fmt::format("not examined: {} more places of the trace that fit the same code locations\n",
                             left_out.instances);
  if (left_out.accesses > 0)
    std::cout << fmt::format(
        "not examined: {} accesses of variables with very many code locations; --classes raises the limit\n",
        left_out.accesses);
  if (left_out.pairs > 0)
    std::cout << fmt::format("not examined: {} pairs of accesses of such variables; --pairs raises the limit\n",
                             left_out.pairs);
  if (left_out.equal_values > 0)
    std::cout
        << "not examined: schedules in which a read sees another write of the same value; the trace is too long\n";
}

// Prints, after the findings, how many reads may see other values in another order.
void write_reads(const ReadCounts& reads) {
  if (reads.free_events == 0) return;
  std::cout << fmt::format("{} of {} reads decide nothing", reads.free_events, reads.events);
  if (reads.places > 0)
    std::cout << fmt::format(": those of {} of {} places in the code", reads.free_places, reads.places);
  std::cout << '\n';
}

// The exit status, by how much of the trace could be read.
int status_of(const PredictArguments& arguments, const TraceInput& input) {
  if (arguments.shortfall.exit_status != 0) return arguments.shortfall.exit_status;
  return input.damage() ? input.damage()->exit_status : 0;
}

// Prints the last lines of a report that does not cover the whole trace.
void write_damage(const TraceInput& input) {
  if (input.damage())
    std::cout << fmt::format("only the first {} events were analysed: {}\n", input.events(), input.damage()->reason);
}

Names names_for(const TraceInput& input, std::optional<CodeNames>& code) {
  if (input.reader()) code.emplace(*input.reader());
  return code ? names_of(*code) : names_of(input.std_names());
}

void say_damage(const TraceInput& input) {
  if (!input.damage()) return;
  fmt::print(stderr, "reweave: {}\nreweave: analysing the {} events before that\n", input.damage()->reason,
             input.events());
}

std::string event_rate(std::uint64_t events, double seconds) {
  const double millions = static_cast<double>(events) / 1e6;
  if (seconds <= 0) return fmt::format("{:.1f}M events", millions);
  return fmt::format("{:.1f}M events, {:.1f}M/s", millions, millions / seconds);
}

// Ctrl-C once: stop and show what was found; twice: exit.
void stop_at_interrupt() {
  std::signal(SIGINT, [](int) {
    interrupted = true;
    std::signal(SIGINT, SIG_DFL);
  });
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int run_detector(const PredictArguments& arguments, const DetectorRow& row) {
  give_up_writing({}, true);
  ProgressLine progress;
  TraceInput input(arguments.trace, arguments.name);
  const auto detector = row.make();
  const Stopwatch watch;
  stop_at_interrupt();
  input.stream([&](const TraceChunk& chunk) { detector->take(chunk); },
               [&](std::uint64_t done, std::uint64_t all) {
                 const double seconds = watch.seconds();
                 progress.show(progress_texts(row.name, event_rate(done, seconds), done, all, seconds));
                 if (interrupted) throw StopReading{"interrupted"};
               });
  std::signal(SIGINT, SIG_DFL);
  progress.clear();
  say_damage(input);
  std::optional<CodeNames> code;
  const Names names = names_for(input, code);
  CandidateSet set = reports_of(input, detector->finish(), code ? &*code : nullptr, names);
  set.analysis = row.name;
  if (arguments.format != "text") {
    write_machine_readable(arguments.format, set, input, {});
    return status_of(arguments, input);
  }
  std::size_t number = 0;
  for (const Candidate& candidate : set.candidates) {
    fmt::print("#{} {} {}, seen {} times\n  {}\n", ++number, row.name, candidate.pattern, candidate.count,
               candidate.summary);
  }
  fmt::print("{} of code locations in {}\n", counted(set.candidates.size(), "pair"), counted(input.events(), "event"));
  write_damage(input);
  return status_of(arguments, input);
}

void say_undecided(const PredictStats& stats, const Names& names) {
  if (stats.out_of_time && !interrupted) fmt::print(stderr, "reweave: the time was used up; --budget allows more\n");
  for (const std::string& pass : stats.unfinished)
    fmt::print(stderr, "reweave: {}: not searched for everywhere\n", pass);
  if (stats.undecided.empty()) return;
  fmt::print(stderr, "reweave: undecided, so neither reported nor ruled out:\n");
  for (const PredictStats::Undecided& group : stats.undecided) {
    std::string places;
    for (std::uint32_t site : group.sites) {
      const std::string text = names.site ? names.site(site) : "";
      places += (places.empty() ? "" : ", ") + (text.empty() ? fmt::format("location {}", site) : text);
    }
    fmt::print(stderr, "  {} {}: {}\n", kind_name(group.kind), group.pattern, places);
  }
}

// Identifies a trace, because decisions name events by number and hold only for that trace. The ctime of the file is
// not part of an archive, so the author of a trace cannot supply decisions for it.
std::uint64_t identity_of(const std::string& path, const TraceModel& model) {
  struct stat status {};
  SYSCALL_CHECK(::stat(path.c_str(), &status), "{}", path);
  const std::int64_t changed = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec;
  auto identity = static_cast<std::uint64_t>(status.st_size);
  // The program's file may have changed since, and with it the knowledge about the reads.
  const auto data = std::count_if(model.flags.begin(), model.flags.end(),
                                  [](std::uint8_t flags) { return (flags & (kDecidesNothing | kCarries)) != 0; });
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(changed), std::uint64_t{status.st_ino}, std::uint64_t{model.size()},
        std::uint64_t{model.variables.size()}, static_cast<std::uint64_t>(data)}) {
    identity = (identity ^ part) * 0x9e3779b97f4a7c15ull;
  }
  return identity;
}

void write_text(const PredictArguments& arguments, const TraceModel& model, const std::vector<Finding>& findings,
                const Names& names) {
  if (arguments.explain == 0) {
    std::ostringstream report;
    write_report(report, model, findings, names, {.witness = arguments.witness});
    std::cout << with_styles(report.str(), [](std::string_view line) -> std::optional<Style> {
      return line.starts_with('#') ? std::optional(Style::kHeading) : std::nullopt;
    });
    return;
  }
  REQUIRE(arguments.explain <= findings.size(), "--explain {}: there are {} findings", arguments.explain,
          findings.size());
  write_finding(std::cout, model, findings[arguments.explain - 1], names, {.witness = true});
}

TraceModel load(TraceInput& input, ProgressLine& progress) {
  const Stopwatch watch;
  TraceModel model = input.load([&](std::uint64_t done, std::uint64_t all) {
    const double seconds = watch.seconds();
    progress.show(progress_texts("reading", event_rate(done, seconds), done, all, seconds));
    REQUIRE(!interrupted, "interrupted while the trace was read");
  });
  progress.clear();
  say_damage(input);
  return model;
}

// The options of the command line, plus progress, Ctrl-C and source lines.
PredictOptions options_of(const PredictArguments& arguments, const Names& names, ProgressLine& progress) {
  PredictOptions options = arguments.options;
  options.progress = [&progress, watch = Stopwatch(), start = 0.0](const std::string& pass, std::size_t done,
                                                                   std::size_t all) mutable {
    const double now = watch.seconds();
    if (done == 0) start = now;
    const std::string detail = fmt::format("{} of {} groups decided, {:.0f} s", done, all, now);
    progress.show(progress_texts(pass, detail, done, all, now - start));
  };
  options.interrupted = [] { return interrupted.load(); };
  options.place = names.site;
  if (names.source_line) {
    options.asserts = [&](std::uint32_t site) { return names.source_line(site).find("assert") != std::string::npos; };
  }
  return options;
}

// The journal of decisions beside the output, if that is a file.
std::optional<DecisionJournal> journal_of(const PredictArguments& arguments, const std::optional<OutputFile>& output,
                                          const TraceModel& model) {
  if (!output || output->folder() == nullptr) return std::nullopt;
  std::optional<DecisionJournal> journal(std::in_place, *output->folder(), output->name() + ".state",
                                         identity_of(arguments.trace, model));
  if (journal->known() > 0) notice("going on from {} decisions", journal->known());
  return journal;
}

int run(const PredictArguments& arguments) {
  std::optional<OutputFile> output;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  if (output && output->folder() != nullptr)
    give_up_writing({output->folder()}, true);
  else
    give_up_writing({}, true);
  ProgressLine progress;
  TraceInput input(arguments.trace, arguments.name);
  stop_at_interrupt();
  const TraceModel model = load(input, progress);
  std::optional<CodeNames> code;
  const Names names = names_for(input, code);
  CodeNames* const known_code = code ? &*code : nullptr;
  PredictOptions options = options_of(arguments, names, progress);
  std::optional<DecisionJournal> journal = journal_of(arguments, output, model);
  if (journal) options.journal = &*journal;
  PredictStats stats;
  const std::vector<Finding> findings = find(model, options, stats);
  std::signal(SIGINT, SIG_DFL);
  progress.clear();
  if (arguments.format == "text") {
    write_text(arguments, model, findings, names);
    write_damage(input);
    if (arguments.explain == 0) {
      write_reads(input.reads());
      write_left_out(stats.left_out);
    }
  } else {
    write_machine_readable(arguments.format, findings_of(input, model, findings, known_code, names), input,
                           stats.left_out);
  }
  std::cout.flush();
  say_undecided(stats, names);
  if (!output) return status_of(arguments, input);
  progress.show(progress_texts("writing witnesses", "", 0, 0, 0));
  write_candidates(*output, candidates_of(input, model, findings, known_code, names));
  progress.clear();
  if (!journal) return status_of(arguments, input);
  if (stats.out_of_time)
    notice("{}.state has the decisions made so far; the same command continues from there", arguments.output);
  else
    journal->remove();
  return status_of(arguments, input);
}

// If the input is a recording, makes or finds its trace.
std::optional<RecordingTrace> traced(PredictArguments& arguments, const TraceMaker& maker) {
  if (!arguments.trace.empty() && !is_folder(arguments.trace)) return std::nullopt;
  const std::string recording = maker.find(arguments.trace);
  ProgressLine progress;
  const Stopwatch watch;
  const std::uint64_t all = read_manifest(Folder::open(recording)).events_total;
  stop_at_interrupt();
  std::optional<RecordingTrace> trace(std::in_place, recording, maker, [&](std::uint64_t events) {
    progress.show(progress_texts("replaying", event_rate(events, watch.seconds()), events, all, watch.seconds()));
    REQUIRE(!interrupted, "interrupted while the trace was made");
  });
  std::signal(SIGINT, SIG_DFL);
  progress.clear();
  arguments.trace = trace->path();
  if (!trace->kept()) arguments.name = recording;
  arguments.shortfall = trace->shortfall();
  if (arguments.shortfall.exit_status != 0)
    fmt::print(stderr, "reweave: the trace is incomplete: {}\n", arguments.shortfall.reason);
  return trace;
}

int run_analyses(PredictArguments arguments, const TraceMaker& maker) {
  const std::optional<RecordingTrace> made = traced(arguments, maker);
  for (const std::string& name : arguments.analyses) {
    const auto engine =
        std::find_if(std::begin(kEngines), std::end(kEngines), [&](const EngineRow& row) { return name == row.name; });
    const auto detectors = all_detectors();
    const auto detector =
        std::find_if(detectors.begin(), detectors.end(), [&](const DetectorRow& row) { return name == row.name; });
    if (detector != detectors.end()) {
      REQUIRE(arguments.analyses.size() == 1, "--analysis {} runs alone", name);
      REQUIRE(arguments.output.empty(), "{} finds no witnesses, so there are no candidates to write", name);
      return run_detector(arguments, *detector);
    }
    if (engine == std::end(kEngines)) {
      arguments.options.analyses.push_back(name);
    } else {
      arguments.options.keep_order |= engine->keep_order;
    }
  }
  return run(arguments);
}

std::string known_analyses() {
  std::string known;
  for (const AnalysisRow& row : all_analyses()) known += fmt::format("\n  {:<10} {}", row.name, row.summary);
  for (const EngineRow& row : kEngines) known += fmt::format("\n  {:<10} {}", row.name, row.summary);
  known += "\nDetectors, which stream over the trace and find no witnesses:";
  for (const DetectorRow& row : all_detectors()) known += fmt::format("\n  {:<10} {}", row.name, row.summary);
  return known;
}

// Describes the limits, in the words of docs/prediction.md.
std::string limits() {
  const WitnessSteps::Limits witness;
  const Limits limits;
  return fmt::format(
      "\n\nLimits. They cause no wrong reports, but bugs may be missed:\n"
      "  for each set of code locations, {} places of the trace are examined, spread over all;\n"
      "  per variable, the accesses of {} pairs of thread and code location (--classes), 4 to 8 of each, and {}\n"
      "    pairs or triples of those (--pairs);\n"
      "  deadlocks of up to {} threads, locks held across waits with up to 8 that could wake the waiter;\n"
      "  the {} highest-ranked findings are kept (--findings), with an equal share for each kind; a trace may "
      "have 4,294,967,294 events and 65,535 threads;\n"
      "  long reorderings share a budget of work. What exceeds it, or --budget, is listed as not decided;\n"
      "  in the file of -o only the last {} steps of a witness, and {} of all, are complete; earlier steps are "
      "summarised as turns of "
      "threads.",
      GroupTable::kMaxInstances, limits.classes, limits.pairs, kMostDeadlocked, limits.findings, witness.steps,
      witness.all_steps);
}

}  // namespace

void add_predict_command(CLI::App& app, int& status, const TraceMaker& maker) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* verb = app.add_subcommand(
      "predict", "find bugs that the traced run could have had if its threads had run at other speeds");
  verb->footer("Analyses:" + known_analyses() + limits());
  verb->add_option("input", arguments->trace,
                   "a recording, whose trace is made and kept in it as trace.rwt; a trace (*.rwt); or text in STD "
                   "format (*.std, *.std.gz, *.std.zst). Default: the latest recording");
  verb->add_option("-o,--output", arguments->output,
                   "file to write candidates to, for 'explore'. Decisions made before Ctrl-C "
                   "or the end of the budget are kept beside it, and the same command continues from there");
  verb->add_flag("--witness", arguments->witness,
                 "show an order of events that leads to each bug; only in text output");
  verb->add_option("--explain", arguments->explain,
                   "show only the finding with this number (from 1), and its witness with one column for each thread; "
                   "only for text output")
      ->type_name("NUMBER")
      ->check(whole_number(1));
  verb->add_option("--format", arguments->format, "text, json or sarif; default: text")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  verb->add_flag_callback(
      "--json", [arguments] { arguments->format = "json"; }, "the same as --format json");
  verb->add_option("--analysis", arguments->analyses,
                   "only these of the ones below, separated by commas; a detector runs alone. Default: seqcheck")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAMES");
  Limits& most = arguments->options.limits;
  verb->add_option("--findings", most.findings, "show at most this many findings; 0: all. Default: 1000")
      ->type_name("NUMBER");
  verb->add_option(
          "--classes", most.classes,
          "examine the accesses of at most this many pairs of thread and code location per variable. Default: 64")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  verb->add_option("--pairs", most.pairs, "examine at most this many pairs or triples of these accesses. Default: 512")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  verb->add_option("--budget", arguments->options.budget_seconds,
                   "stop after this time and list what was not decided; reading the trace does not count. 0 or more; "
                   "default: 600")
      ->type_name("SECONDS")
      ->check(seconds_number());
  verb->callback([arguments, maker, &status] { status = run_analyses(*arguments, maker); });
}

}  // namespace reweave

#include "explorer/words/examples.h"

namespace reweave {
namespace {

struct ExampleRow {
  std::string_view verb;
  std::string_view command;
  std::string_view what;
};

// tests/scripts/manual_test.py runs each in a folder that has ./program, built with -fsanitize=thread, a recording
// `rec` of a run of it that passes, and `found/failure-1`, one that fails.
constexpr ExampleRow kExamples[] = {
    {"hunt", "reweave hunt --for 10m -o hunted -- ./program", "search for a failing schedule for at most ten minutes"},
    {"record", "reweave record -o rec -- ./program", "record one run in the folder rec"},
    {"record", "reweave record --chaos --until-fail 100 -o flaky -- ./program",
     "record under an unfair scheduler until a run fails, at most a hundred times"},
    {"replay", "reweave replay rec", "repeat the run"},
    {"replay", "reweave replay found/failure-1 -g end --gdb-batch 'info threads; bt'",
     "gdb's answers at the end of the run; without --gdb-batch, gdb's prompt"},
    {"explore", "reweave explore rec --runs 500 -o found", "make at most 500 runs, and keep the failures in found"},
    {"explore", "reweave explore rec --strategy surw --seed 7 --runs 100 -o other",
     "a strategy of your choice; the same seed gives the same runs"},
    {"explore", "reweave explore rec --assume 'uninterrupted deposit:22-28 by audit:33' --runs 100 -o assumed",
     "would it help if nobody came between these lines?"},
    {"explore", "reweave explore --expect-fixed found/failure-1 --runs 100 -o again -- ./program",
     "is the failure gone in this build?"},
    {"campaign", "reweave campaign new all rec --units 2 --runs 50", "a folder with the plan: two units of fifty runs"},
    {"campaign", "reweave campaign run all", "make the units that are not done, on this machine"},
    {"campaign", "reweave campaign status all", "how far the units are"},
    {"campaign", "reweave campaign merge all", "collect their results in all/merged"},
    {"explain", "reweave explain found/failure-1 --html why.html", "the cause, also as one page for a browser"},
    {"explain", "reweave explain found/failure-1 --save", "keep the report in the recording, for replay -g inevitable"},
    {"doctor", "reweave doctor ./program", "can this machine record, and record this program?"},
    {"predict", "reweave predict rec", "the bugs that the run could have had"},
    {"predict", "reweave predict rec --explain 1", "the first of them, drawn"},
    {"suspects", "reweave suspects program", "accesses that may race, in a program built with reweave-cc"},
    {"dap", "reweave dap --extension", "the extension for VS Code; `code --install-extension` takes it"},
    {"dump", "reweave dump rec", "the recorded events, one per line"},
    {"traceinfo", "reweave traceinfo rec", "what the recording holds, as JSON"},
    {"ps", "reweave ps rec", "its processes, with process ids for replay -p"},
    {"trace", "reweave trace rec -o rec.rwt", "every event, with memory accesses"},
    {"trace", "reweave trace rec --export=std -o rec.std", "the same as text, for other analysers"},
    {"query", "reweave query rec switches", "the last thread switches, as JSON"},
    {"pack", "reweave pack rec", "make rec independent of this machine's files"},
};

}  // namespace

std::string examples_of(std::string_view verb) {
  std::string text;
  for (const ExampleRow& row : kExamples)
    if (row.verb == verb) text.append("\n  ").append(row.command).append("\n      ").append(row.what);
  return text.empty() ? text : "Examples:" + text;
}

std::string_view first_example_of(std::string_view verb) {
  for (const ExampleRow& row : kExamples)
    if (row.verb == verb) return row.command;
  return {};
}

}  // namespace reweave

#include "replayer/inspect_commands.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/fd_stream.h"
#include "formats/base/json_text.h"
#include "formats/base/number_check.h"
#include "formats/base/output_file.h"
#include "formats/base/private_folder.h"
#include "formats/base/progress_line.h"
#include "formats/base/sandbox.h"
#include "formats/recording/manifest.h"
#include "formats/text/std_export.h"
#include "formats/trace/dump.h"
#include "formats/trace/traceinfo.h"
#include "recorder/supervisor/process/call_names.h"
#include "recorder/supervisor/record/recordings.h"
#include "replayer/trace_recording.h"

namespace reweave {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct InspectArguments {
  std::string path;
  std::string output;
  std::string dialect;  // of the export; empty: none
  std::uint64_t first = 0;
  std::uint64_t end = ~std::uint64_t{0};
  int thread = -1;
  bool json = false;
};

bool is_recording(const std::string& path) { return is_folder(path); }

std::string path_or_latest(const std::string& path) { return recording_to_read(path); }

void dump(const InspectArguments& arguments) {
  const std::string path = path_or_latest(arguments.path);  // this may complete a recording
  give_up_writing();
  DumpOptions options;
  options.call_name = system_call_name;
  options.first = arguments.first;
  options.end = arguments.end;
  options.thread = arguments.thread;
  if (is_recording(path)) {
    RecordingReader reader(path);
    dump_recording(reader, stdout, options);
  } else {
    TraceReader reader(path);
    dump_trace(reader, stdout, options);
  }
}

void traceinfo(const InspectArguments& arguments) {
  const std::string path = path_or_latest(arguments.path);
  give_up_writing();
  if (is_recording(path)) {
    const RecordingReader reader(path);
    fmt::print("{}\n", json_text(recording_info(reader)));
    return reader.require_whole();
  }
  const TraceReader reader(path);
  fmt::print("{}\n", json_text(trace_info(reader)));
  if (reader.damage()) throw BadFile(*reader.damage());
}

// An exit status, or the name of the signal that ended the process; "-" if nothing has.
std::string ending_of(int wait_status) {
  if (wait_status == kStillRuns) return "-";
  if (!WIFSIGNALED(wait_status)) return std::to_string(WEXITSTATUS(wait_status));
  const char* name = sigabbrev_np(WTERMSIG(wait_status));
  return name == nullptr ? fmt::format("signal {}", WTERMSIG(wait_status)) : fmt::format("SIG{}", name);
}

std::int32_t parent_of(const ProcessInfo& process, const Manifest& manifest) {
  for (const ProcessInfo& other : manifest.processes)
    if (other.index == process.parent && process.index != process.parent) return other.pid;
  return 0;
}

void print_processes(const Manifest& manifest) {
  fmt::print("{:>8} {:>8} {:>9}  {}\n", "PID", "PPID", "EXIT", "PROGRAM");
  for (const ProcessInfo& process : manifest.processes)
    fmt::print("{:>8} {:>8} {:>9}  {}\n", process.pid, parent_of(process, manifest), ending_of(process.wait_status),
               escaped(process.program));
}

json processes_json(const std::string& recording, const Manifest& manifest) {
  json processes = json::array();
  for (const ProcessInfo& process : manifest.processes) {
    const int ending = process.wait_status;
    const bool ended = ending != kStillRuns;
    processes.push_back({{"pid", process.pid},
                         {"parent", parent_of(process, manifest)},
                         {"program", process.program},
                         {"ended", ended},
                         {"status", ended && WIFEXITED(ending) ? json(WEXITSTATUS(ending)) : json()},
                         {"signal", ended && WIFSIGNALED(ending) ? json(WTERMSIG(ending)) : json()}});
  }
  return {{"format", "reweave-processes"}, {"version", 1}, {"recording", recording}, {"processes", processes}};
}

void ps(const InspectArguments& arguments) {
  const std::string path = path_or_latest(arguments.path);
  give_up_writing();
  const RecordingReader reader(path);
  if (arguments.json)
    fmt::print("{}\n", json_text(processes_json(path, reader.manifest())));
  else
    print_processes(reader.manifest());
  reader.require_whole();
}

// Prints why the trace does not cover the whole run and returns the exit status; 0 if it does.
int say_what_is_missing(const TracedReplay& traced) {
  if (traced.whole) return 0;
  fmt::print(stderr, "reweave: the trace is incomplete: {}\n", traced.result.text);
  return exit_status_of(traced.result.outcome);
}

TracedReplay traced_with_progress(const std::string& recording, const std::string& output) {
  using Clock = std::chrono::steady_clock;
  ProgressLine line;
  const Clock::time_point begin = Clock::now();
  const std::uint64_t all = read_manifest(Folder::open(recording)).events_total;
  return trace_recording(recording, output, [&](std::uint64_t events) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    line.show(progress_texts("replaying", counted(events, "event"), events, all, seconds));
  });
}

int write_trace(const std::string& recording, const std::string& output) {
  const TracedReplay traced = traced_with_progress(recording, output);
  if (traced.whole) fmt::print("{}: {}, {} bytes\n", output, counted(traced.events, "event"), traced.bytes);
  return say_what_is_missing(traced);
}

void export_trace(const TraceReader& trace, OutputFile& output, StdDialect dialect) {
  FdOutput out(output.take());
  const std::uint64_t lines = export_std(trace, out, dialect);
  out.close();
  REQUIRE(out.good(), "{}: cannot be written", output.path());
  output.commit();
  if (output.folder() != nullptr) fmt::print("{}: {}\n", output.path(), counted(lines, "line"));
}

// The intermediate trace of an export: beside the output, or in the folder of temporary files if the output is not a
// file.
class TraceBetween {
 public:
  explicit TraceBetween(const OutputFile& output) {
    if (output.folder() == nullptr) folder_.emplace();
    path_ = folder_ ? folder_->path() + "/trace.rwt" : output.path() + ".rwt";
  }
  ~TraceBetween() {
    std::error_code ignored;
    if (written_) fs::remove(path_, ignored);
  }
  TraceBetween(const TraceBetween&) = delete;
  TraceBetween& operator=(const TraceBetween&) = delete;

  // Traces a recording into this file.
  TracedReplay write(const std::string& recording) {
    TracedReplay traced = traced_with_progress(recording, path_);
    written_ = true;
    return traced;
  }
  const std::string& path() const { return path_; }

 private:
  std::optional<PrivateFolder> folder_;
  std::string path_;
  bool written_ = false;
};

int export_recording(const std::string& recording, OutputFile& output, StdDialect dialect) {
  TraceBetween between(output);
  const TracedReplay traced = between.write(recording);
  export_trace(TraceReader(between.path()), output, dialect);
  return say_what_is_missing(traced);
}

int trace(const InspectArguments& arguments) {
  const std::string path = path_or_latest(arguments.path);
  if (arguments.dialect.empty()) {
    REQUIRE(is_recording(path), "{} is not a recording; --export writes a trace in another format", path);
    return write_trace(path, arguments.output.empty() ? path + ".rwt" : arguments.output);
  }
  const StdDialect dialect = arguments.dialect == "std" ? StdDialect::kFull : StdDialect::kField;
  OutputFile output(arguments.output.empty() ? path + ".std" : arguments.output);
  if (is_recording(path)) return export_recording(path, output, dialect);
  if (output.folder() != nullptr)
    give_up_writing({output.folder()});
  else
    give_up_writing();
  const TraceReader reader(path);
  export_trace(reader, output, dialect);
  if (reader.damage()) throw BadFile(*reader.damage());
  return 0;
}

CLI::App* add_verb(CLI::App& app, const std::shared_ptr<InspectArguments>& arguments, const char* name,
                   const char* help, const char* what) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("path", arguments->path, what);
  return verb;
}

}  // namespace

void add_inspect_commands(CLI::App& app, int& status) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* dump_verb = add_verb(app, arguments, "dump", "print a recording or trace as text",
                                 "recording or trace; default: the latest recording");
  dump_verb->add_option("--first", arguments->first, "index of the first event shown")->check(whole_number());
  dump_verb->add_option("--end", arguments->end, "index of the first event not shown")->check(whole_number());
  dump_verb->add_option("--thread", arguments->thread, "only this thread")
      ->check(whole_number(0, std::numeric_limits<ThreadId>::max()));
  dump_verb->callback([arguments] { dump(*arguments); });
  add_verb(app, arguments, "traceinfo", "describe a recording or trace as JSON",
           "recording or trace; default: the latest recording")
      ->callback([arguments] { traceinfo(*arguments); });
  add_verb(app, arguments, "ps", "list the processes of a recording", "the recording; default: the latest")
      ->callback([arguments] { ps(*arguments); })
      ->add_flag("--json", arguments->json, "print them as JSON");
  CLI::App* trace_verb = add_verb(app, arguments, "trace", "replay a recording and write every event of it to a trace",
                                  "the recording; default: the latest. With --export it can also be a trace");
  trace_verb->add_option("-o,--output", arguments->output, "file to create; default: RECORDING.rwt or .std");
  trace_verb
      ->add_option("--export", arguments->dialect,
                   "write text instead: std (for 'predict', with Reweave's extensions), or std-field (for other "
                   "analysers: only words that all of them know)")
      ->check(CLI::IsMember({"std", "std-field"}));
  trace_verb->callback([arguments, &status] { status = trace(*arguments); });
}

}  // namespace reweave

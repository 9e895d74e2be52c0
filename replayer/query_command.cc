#include "replayer/query_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/base/json_text.h"
#include "formats/base/number_check.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/record/recordings.h"
#include "replayer/debugger.h"

namespace reweave {

namespace {

struct QueryArguments {
  std::string recording, question, expression;
  std::string at = "end";
  std::int32_t pid = 0;
};

struct QuestionRow {
  const char* name;
  bool of_expression;
};
constexpr QuestionRow kQuestions[] = {{"who-wrote", true},   {"when", true},      {"last-lock", true},
                                      {"where-freed", true}, {"switches", false}, {"timeline", false}};

void check_question(const QueryArguments& arguments) {
  std::string names;
  for (const QuestionRow& row : kQuestions) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
    if (arguments.question != row.name) continue;
    REQUIRE(!row.of_expression || !arguments.expression.empty(), "{} needs an expression", row.name);
    REQUIRE(row.of_expression || arguments.expression.empty(), "{} takes no expression", row.name);
    return;
  }
  throw BadInput(fmt::format("unknown question '{}'; the questions are {}", arguments.question, names));
}

// Discards gdb's own output. Its script (replayer/gdb/query.py) writes the answer and errors to copies of our standard
// output and error.
[[noreturn]] void ask(const QueryArguments& arguments) {
  check_question(arguments);
  const std::string recording = recording_to_read(arguments.recording);
  const bool whole = RecordingReader{recording}.is_whole();
  const int answer = SYSCALL_CHECK(dup(STDOUT_FILENO), "keeping the standard output");
  const int errors = SYSCALL_CHECK(dup(STDERR_FILENO), "keeping the standard error");
  const int null = SYSCALL_CHECK(open("/dev/null", O_RDWR), "opening /dev/null");
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    SYSCALL_CHECK(dup2(null, fd), "redirecting standard input, output and error to /dev/null");
  close(null);
  setenv("REWEAVE_QUERY", arguments.question.c_str(), 1);
  setenv("REWEAVE_QUERY_OF", arguments.expression.c_str(), 1);
  setenv("REWEAVE_QUERY_FD", std::to_string(answer).c_str(), 1);
  setenv("REWEAVE_QUERY_ERRORS_FD", std::to_string(errors).c_str(), 1);
  if (!whole) setenv("REWEAVE_QUERY_TRUNCATED", "1", 1);
  // `switches` and `timeline` read the events of the recording and need no replay that goes backward.
  const bool looks_back = arguments.question != "switches" && arguments.question != "timeline";
  debug_recording({.recording = recording,
                   .where = arguments.at,
                   .pid = arguments.pid,
                   .batch = true,
                   .commands = "",
                   .discard_output = true,
                   .backward = looks_back});
  std::abort();
}

}  // namespace

void add_query_command(CLI::App& app, int&) {
  auto arguments = std::make_shared<QueryArguments>();
  CLI::App* verb =
      app.add_subcommand("query", "ask a recording who wrote a variable, took a lock, ...; answers are JSON");
  verb->footer(
      "Questions: who-wrote EXPR, when EXPR, last-lock EXPR, where-freed POINTER, switches, timeline. Exits with 0 "
      "if there is an answer, even if nothing was found; with 6 if the recording is truncated. Errors are JSON as "
      "well.");
  verb->add_option("recording", arguments->recording, "the recording")->required();
  verb->add_option("question", arguments->question, "one of the questions below")->required();
  verb->add_option("expression", arguments->expression, "an expression in the program's language, as for gdb's print");
  verb->add_option("--at", arguments->at, "where to look back from; default: the end")->type_name("EVENT|POSITION|end");
  verb->add_option("-p,--pid", arguments->pid, "in this process of the recorded tree (see `reweave ps`)")
      ->type_name("PID")
      ->check(whole_number(1, std::numeric_limits<std::int32_t>::max()));
  verb->callback([arguments] {
    try {
      ask(*arguments);
    } catch (const Error& error) {
      const nlohmann::json told = {
          {"question", arguments->question}, {"error", error.what()}, {"status", error.exit_code()}};
      fmt::print("{}\n", json_text(told, -1));
      throw;
    }
  });
}

}  // namespace reweave

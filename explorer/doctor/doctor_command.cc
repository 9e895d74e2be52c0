#include "explorer/doctor/doctor_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "explorer/doctor/check.h"
#include "explorer/words/escaping.h"
#include "formats/base/exit_status.h"
#include "formats/base/json_text.h"
#include "formats/base/terminal.h"

namespace reweave {

namespace {

struct DoctorArguments {
  std::string program;
  bool json = false;
};

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
  }
  return "";
}

Style style_of(Verdict verdict) {
  if (verdict == Verdict::kFail) return Style::kFailure;
  return verdict == Verdict::kWarn ? Style::kWarning : Style::kGood;
}

bool none_fails(const std::vector<Check>& checks) {
  return std::ranges::none_of(checks, [](const Check& check) { return check.verdict == Verdict::kFail; });
}

void print_text(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    fmt::print("{}  {}: {}\n", styled(style_of(check.verdict), fmt::format("{:4}", verdict_name(check.verdict))),
               check.name, one_line(check.text));
    if (!check.remedy.empty()) fmt::print("      {}\n", check.remedy);
  }
}

void print_json(const std::vector<Check>& checks) {
  using nlohmann::json;
  json list = json::array();
  for (const Check& check : checks)
    list.push_back({{"name", check.name},
                    {"verdict", verdict_name(check.verdict)},
                    {"text", check.text},
                    {"remedy", check.remedy}});
  const json whole = {
      {"format", "reweave-doctor"}, {"version", 1}, {"can_record", none_fails(checks)}, {"checks", list}};
  fmt::print("{}\n", json_text(whole));
}

int doctor(const DoctorArguments& arguments) {
  std::vector<Check> checks = check_machine();
  const int status = none_fails(checks) ? 0 : kExitSystem;
  for (const Check& check : check_tools()) checks.push_back(check);
  const std::vector<Check> of_program =
      arguments.program.empty() ? std::vector<Check>() : check_program(arguments.program);
  checks.insert(checks.end(), of_program.begin(), of_program.end());
  arguments.json ? print_json(checks) : print_text(checks);
  return status != 0 || none_fails(of_program) ? status : kExitBadInput;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& status) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* verb =
      app.add_subcommand("doctor", "check whether this machine and a program can be recorded, and say what to change");
  verb->footer(
      "Each line is ok, warn (it records, but something will be missing) or fail, with what to do about it.\n"
      "Exits 0 if it can record, 4 if this machine cannot, 2 if the program cannot be recorded.");
  verb->add_option("program", arguments->program, "a program to look at");
  verb->add_flag("--json", arguments->json, "the same for programs");
  verb->callback([arguments, &status] { status = doctor(*arguments); });
}

}  // namespace reweave

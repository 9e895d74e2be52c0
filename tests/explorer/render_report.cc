// Renders a JSON report, whose texts may be anything: render_report html|sarif|junit|check RECORDING <JSON.
#include <fmt/core.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "explorer/explain/html/page.h"
#include "explorer/explain/report_check.h"
#include "explorer/explain/report_ci.h"

int main(int count, char** arguments) {
  using nlohmann::json;
  if (count != 3) return 2;
  const std::string form = arguments[1], recording = arguments[2];
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  json report;
  // Names in a program need not be valid UTF-8, which JSON cannot hold: here "\u00ff" stands for the byte 0xff.
  const auto as_byte = [](json& value, const auto& self) -> void {
    if (value.is_structured())
      for (auto& [key, member] : value.items()) self(member, self);
    if (!value.is_string()) return;
    std::string bytes = value.get<std::string>();
    for (std::size_t at = 0; (at = bytes.find("\u00ff", at)) != std::string::npos;) bytes.replace(at, 2, "\xff");
    value = bytes;
  };
  report = json::parse(text);
  as_byte(report, as_byte);
  if (form == "html") fmt::print("{}", reweave::html_report(report, recording));
  if (form == "junit") fmt::print("{}", reweave::junit_report(report, recording));
  if (form == "sarif")
    fmt::print("{}", reweave::sarif_report(report).dump(1, ' ', false, json::error_handler_t::replace));
  if (form == "check") fmt::print("{}\n", reweave::check_report(report).value_or("borne out"));
  return 0;
}

#include "explorer/explain/html/figures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace reweave {

using nlohmann::json;

namespace {

std::string rounded_percent(double share) {
  constexpr double kLeast = 0.05;  // less would be "0.0"
  const double value = share * 100;
  return value > kLeast && value < 1 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

}  // namespace

double share_of(const json& rate) {
  const auto tried = rate.at("tried").get<double>();
  return tried == 0 ? 0 : rate.at("failed").get<double>() / tried;
}

std::string count_text(const json& rate) {
  if (rate.at("tried") == 0) return "not feasible";
  return fmt::format("{} of {}", rate.at("failed").get<std::uint64_t>(), rate.at("tried").get<std::uint64_t>());
}

std::string interval_text(const json& rate) {
  return fmt::format("{} to {}", rounded_percent(rate.at("low").get<double>()),
                     rounded_percent(rate.at("high").get<double>()));
}

Html interval_drawing(const json& rate) {
  const double low = rate.at("low").get<double>() * 100, high = rate.at("high").get<double>() * 100;
  if (rate.at("tried") == 0) return {};
  const auto box = [](const char* look, double x, double y, double width, double height) {
    return element("rect",
                   {{"class", look},
                    {"x", fmt::format("{:.1f}", x)},
                    {"y", fmt::format("{:.1f}", y)},
                    {"width", fmt::format("{:.1f}", width)},
                    {"height", fmt::format("{:.1f}", height)},
                    {"rx", fmt::format("{:.1f}", height / 2)}},
                   {});
  };
  return element(
      "svg",
      {{"class", "interval"}, {"viewBox", "-3 0 106 8"}, {"preserveAspectRatio", "xMinYMid"}, {"aria-hidden", "true"}},
      {box("scale", 0, 3, 100, 2), box("range", low, 2, std::max(high - low, 1.0), 4),
       element("circle",
               {{"class", "share"}, {"cx", fmt::format("{:.1f}", share_of(rate) * 100)}, {"cy", "4"}, {"r", "3"}},
               {})});
}

Html thread_chip(const json& step) {
  constexpr std::uint64_t kColours = 8;
  const auto thread = step.at("thread").get<std::uint64_t>();
  return element("span", {{"class", fmt::format("thread t{}", thread % kColours)}}, {fmt::format("thread {}", thread)});
}

Html place_text(const json& step) {
  // Functions of C++ templates can have very long names; the whole name is in the sentence or in the tooltip.
  constexpr std::size_t kMostOfName = 56;
  const std::string place = step.at("place").get<std::string>(), function = step.value("function", "");
  std::string shown = place;
  if (function.size() > kMostOfName && place.starts_with(function))
    shown = visible(function, kMostOfName) + place.substr(function.size());
  return element("span", {{"class", "place"}, {"title", place + " " + step.value("file", "")}}, {shown});
}

namespace {

// "2nd time"; empty for the first time, or without a number.
std::string time_text(const json& step) {
  const auto number = step.value("number", std::uint64_t{1});
  if (number < 2) return "";
  constexpr const char* kEndings[] = {"th", "st", "nd", "rd"};
  const bool is_teen = number % 100 >= 11 && number % 100 <= 13;
  return fmt::format("{}{} time", number, is_teen || number % 10 > 3 ? "th" : kEndings[number % 10]);
}

}  // namespace

Html step_line(const json& step) {
  const std::string object = step.at("object").get<std::string>();
  const Html does =
      element("span", {{"class", "does"}},
              {step.at("does").get<std::string>() + (object.empty() ? "" : " "), element("b", {}, {object})});
  const bool in_schedule = step.contains("choice") && !step.value("not_reached", false);
  const auto link = [&] { return fmt::format("#failing-{}", step.at("choice").get<std::uint64_t>()); };
  return element("li", {},
                 {thread_chip(step), " ", in_schedule ? element("a", {{"href", link()}}, {does}) : does, " ",
                  place_text(step), " ", element("small", {}, {time_text(step)}),
                  element("code", {{"class", "source"}}, {step.value("source", "")})});
}

Html section(std::string_view id, std::string_view title, const Html& content) {
  if (content.markup().empty()) return {};
  return element("section", {{"id", std::string(id)}}, {element("h2", {}, {title}), content});
}

}  // namespace reweave

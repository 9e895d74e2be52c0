#include "explorer/explain/html/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "explorer/explain/html/figures.h"

namespace reweave {

namespace {

using nlohmann::json;

constexpr double kWidth = 760, kHeight = 250, kLeft = 48, kRight = 744, kTop = 28, kBottom = 206;

class Drawing {
 public:
  explicit Drawing(const json& report) : report_(report), curve_(report.at("curve")) {
    last_ = std::max<double>(1, curve_.back().at("choice").get<double>());
  }

  Html whole() const {
    Html content = element("title", {}, {"The probability of the failure along the failing schedule"});
    content += axes();
    content += element("polygon", {{"class", "band"}, {"points", band()}}, {});
    content += element("polyline", {{"class", "line"}, {"points", line()}}, {});
    content += moment();
    for (const json& point : curve_) content += mark(point);
    return element("svg",
                   {{"class", "curve"},
                    {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                    {"role", "img"},
                    {"aria-label", "The probability of the failure along the failing schedule"}},
                   {content});
  }

 private:
  double x(const json& point) const { return kLeft + (kRight - kLeft) * point.at("choice").get<double>() / last_; }
  static double y(double share) { return kBottom - (kBottom - kTop) * share; }
  static double y(const json& point, const char* member) { return y(point.at("rate").at(member).get<double>()); }
  static double share_y(const json& point) { return y(share_of(point.at("rate"))); }

  static Html rule(const char* look, double x1, double y1, double x2, double y2) {
    return element("line",
                   {{"class", look},
                    {"x1", fmt::format("{:.1f}", x1)},
                    {"y1", fmt::format("{:.1f}", y1)},
                    {"x2", fmt::format("{:.1f}", x2)},
                    {"y2", fmt::format("{:.1f}", y2)}},
                   {});
  }
  static Html label(const char* anchor, double at_x, double at_y, const std::string& text, const char* look = "") {
    return element("text",
                   {{"class", look},
                    {"text-anchor", anchor},
                    {"x", fmt::format("{:.1f}", at_x)},
                    {"y", fmt::format("{:.1f}", at_y)}},
                   {text});
  }

  Html axes() const {
    Html drawn;
    for (const int percent : {0, 25, 50, 75, 100}) {
      drawn += rule("grid", kLeft, y(percent / 100.0), kRight, y(percent / 100.0));
      drawn += label("end", kLeft - 8, y(percent / 100.0) + 4, fmt::format("{} %", percent));
    }
    constexpr int kTicks = 4;
    for (int i = 0; i <= kTicks; i++)
      drawn += label(i == 0        ? "start"
                     : i == kTicks ? "end"
                                   : "middle",
                     kLeft + (kRight - kLeft) * i / kTicks, kBottom + 18, fmt::format("{:.0f}", last_ * i / kTicks));
    drawn += label("middle", (kLeft + kRight) / 2, kBottom + 38,
                   "choices made as in the failing run, before chance decides");
    return drawn;
  }

  std::string line() const {
    std::string points;
    for (const json& point : curve_) points += fmt::format("{:.1f},{:.1f} ", x(point), share_y(point));
    return points;
  }
  // The outline of the interval: forward along the upper bounds and back along the lower ones.
  std::string band() const {
    std::string points;
    for (const json& point : curve_) points += fmt::format("{:.1f},{:.1f} ", x(point), y(point, "high"));
    for (std::size_t i = curve_.size(); i-- > 0;)
      points += fmt::format("{:.1f},{:.1f} ", x(curve_[i]), y(curve_[i], "low"));
    return points;
  }

  static std::string text_of(const json& point) {
    return fmt::format("after choice {}: {} fail ({})", point.at("choice").get<std::uint64_t>(),
                       count_text(point.at("rate")), interval_text(point.at("rate")));
  }
  Html mark(const json& point) const {
    return element("circle",
                   {{"class", "point"},
                    {"cx", fmt::format("{:.1f}", x(point))},
                    {"cy", fmt::format("{:.1f}", share_y(point))},
                    {"r", "3.5"}},
                   {element("title", {}, {text_of(point)})});
  }

  Html moment() const {
    const json& index = report_.at("inevitable");
    if (index.is_null() || index.get<std::size_t>() >= curve_.size()) return {};
    const double at = x(curve_.at(index.get<std::size_t>()));
    const bool is_right = at > (kLeft + kRight) / 2;
    Html drawn = rule("moment", at, kTop - 8, at, kBottom);
    drawn +=
        label(is_right ? "end" : "start", is_right ? at - 6 : at + 6, kTop - 12, "inevitable from here on", "moment");
    return drawn;
  }

  const json& report_;
  const json& curve_;
  double last_;
};

}  // namespace

Html curve_drawing(const json& report) { return report.at("curve").size() < 2 ? Html() : Drawing(report).whole(); }

}  // namespace reweave

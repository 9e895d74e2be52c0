#include "explorer/explain/rate.h"

#include <fmt/format.h>

#include <cmath>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/hypergeometric.hpp>

namespace reweave {

Interval interval_of(const Rate& rate) {
  using Binomial = boost::math::binomial_distribution<double>;
  constexpr double kTail = 0.025;
  if (rate.tried == 0) return {0, 1};
  const auto tried = static_cast<double>(rate.tried), failed = static_cast<double>(rate.failed);
  return {Binomial::find_lower_bound_on_p(tried, failed, kTail), Binomial::find_upper_bound_on_p(tried, failed, kTail)};
}

bool fails_more(const Rate& more, const Rate& less) {
  const auto failed = static_cast<unsigned>(more.failed), tried = static_cast<unsigned>(more.tried);
  const auto all_failed = static_cast<unsigned>(more.failed + less.failed);
  const auto all_tried = static_cast<unsigned>(more.tried + less.tried);
  const unsigned fewest = all_failed > less.tried ? all_failed - static_cast<unsigned>(less.tried) : 0;
  if (failed == fewest) return false;  // includes the case that one of them has no runs
  const boost::math::hypergeometric_distribution<double> by_chance(all_failed, tried, all_tried);
  constexpr double kLevel = 0.01;
  return boost::math::cdf(boost::math::complement(by_chance, failed - 1)) < kLevel;
}

bool makes_fail(const Rate& forced, const Rate& avoided, const Rate& base) {
  constexpr double kMost = 0.5;
  return fails_more(forced, avoided.tried == 0 ? base : avoided) &&
         (forced.share() >= kMost || fails_more(forced, base));
}

double most_failing(std::uint64_t tried) {
  constexpr double kTail = 0.05;
  return tried == 0 ? 1 : 1 - std::pow(kTail, 1 / static_cast<double>(tried));
}

std::string percent_text(double share) {
  const double value = share * 100;
  if (value == 0 || value >= 10) return fmt::format("{:.0f} %", value);
  return value >= 1 ? fmt::format("{:.1f} %", value) : fmt::format("{:.2g} %", value);
}

}  // namespace reweave

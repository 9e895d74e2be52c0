#include "explorer/explain/rate.h"

#include <boost/math/distributions/binomial.hpp>

namespace reweave {

Interval interval_of(const Rate& rate) {
  using Binomial = boost::math::binomial_distribution<double>;
  constexpr double kTail = 0.025;
  if (rate.tried == 0) return {0, 1};
  const auto tried = static_cast<double>(rate.tried), failed = static_cast<double>(rate.failed);
  return {Binomial::find_lower_bound_on_p(tried, failed, kTail), Binomial::find_upper_bound_on_p(tried, failed, kTail)};
}

}  // namespace reweave

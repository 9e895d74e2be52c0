// Failure rates of runs, with confidence intervals.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct Rate {
  std::uint64_t tried = 0;   // runs that passed or failed, with the requested order
  std::uint64_t failed = 0;  // with the explained failure
  std::uint64_t other = 0;   // with another failure
  std::uint64_t let_go = 0;  // additional runs: no result, or the requested order was not feasible

  std::uint64_t passed() const { return tried - failed - other; }
  Rate& operator+=(const Rate& more) {
    tried += more.tried;
    failed += more.failed;
    other += more.other;
    let_go += more.let_go;
    return *this;
  }
  bool always() const { return tried > 0 && failed == tried; }
  bool never() const { return tried > 0 && failed == 0; }
  double share() const { return tried == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(tried); }
};

struct Interval {
  double low, high;
};
// True if runs of `more` fail significantly more often than runs of `less`: one-sided Fisher's exact test at 1 %. False
// if either has no runs.
bool fails_more(const Rate& more, const Rate& less);
// True if an order makes random schedules fail: with it (`forced`) they fail significantly more often than with the
// other order (`avoided`; `base` if that was not feasible), and in at least half of the cases or significantly more
// often than random schedules in which nothing is forced (`base`).
bool makes_fail(const Rate& forced, const Rate& avoided, const Rate& base);
// The exact 95 % interval (Clopper, Pearson, Biometrika 1934); [0, 1] if nothing was tried.
Interval interval_of(const Rate& rate);
// The upper bound for the share of failing runs, with 95 % confidence, if none of `tried` independent runs failed.
double most_failing(std::uint64_t tried);
// "3 %", "0.15 %": small shares have decimals.
std::string percent_text(double share);

}  // namespace reweave

// How often runs failed, with the interval that the true probability lies in.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct Rate {
  std::uint64_t tried = 0;   // runs that say something
  std::uint64_t failed = 0;  // in the way that is explained
  std::uint64_t other = 0;   // in another way
  std::uint64_t let_go = 0;  // runs besides `tried`, in which what was asked for was not feasible

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
// True if runs of `more` fail more often than those of `less` beyond what chance explains: Fisher's exact test of one
// side, at 1 %. False if nothing was tried of either.
bool fails_more(const Rate& more, const Rate& less);
// The exact 95 % interval (Clopper, Pearson, Biometrika 1934); [0, 1] if nothing was tried.
Interval interval_of(const Rate& rate);
// The share that fails at most, with 95 % confidence, if none of `tried` independent runs did.
double most_failing(std::uint64_t tried);
// "3 %", "0.15 %": small shares have decimals.
std::string percent_text(double share);

}  // namespace reweave

// One line on a terminal that says how far we are, rewritten in place. Nothing is shown where standard error is no
// terminal, or one that cannot take a line back (TERM=dumb).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reweave {

// What to show of work of `all` parts (0: not known), of which `done` took `seconds`: `what` and `detail`, a bar,
// percent and time left; then shorter ones, for narrow terminals.
std::vector<std::string> progress_texts(const std::string& what, const std::string& detail, std::uint64_t done,
                                        std::uint64_t all, double seconds);

// The first of `texts` that fits in `columns`, or what fits of the last one.
std::string fitting(std::span<const std::string> texts, std::size_t columns);

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Longest first. What comes too soon after another one is not shown.
  void show(std::span<const std::string> texts);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace reweave

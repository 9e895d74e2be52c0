// A progress line on a terminal, rewritten in place; nothing where shows_progress() is false (formats/base/terminal.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reweave {

// Returns texts about work of `all` parts (0: unknown), of which `done` parts took `seconds`. The first has `what`,
// `detail`, a bar, the percentage and the time left; shorter ones for narrow terminals follow.
std::vector<std::string> progress_texts(const std::string& what, const std::string& detail, std::uint64_t done,
                                        std::uint64_t all, double seconds);

// The first of `texts` that fits in `columns`, or the last one truncated.
std::string fitting(std::span<const std::string> texts, std::size_t columns);

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows one of `texts`, which are ordered longest first. A call too soon after the last one is ignored.
  void show(std::span<const std::string> texts);
  void clear();

 private:
  bool shown_at_all_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace reweave

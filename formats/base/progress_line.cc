#include "formats/base/progress_line.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "formats/base/terminal.h"

namespace reweave {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(50);
constexpr std::uint64_t kBarWidth = 20;
constexpr std::size_t kUsualColumns = 80;

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

}  // namespace

std::vector<std::string> progress_texts(const std::string& what, const std::string& detail, std::uint64_t done,
                                        std::uint64_t all, double seconds) {
  const std::string whole = detail.empty() ? what : what + ": " + detail;
  if (all <= done || done == 0) return {whole, what};
  const std::uint64_t filled = done * kBarWidth / all;
  const double left = std::ceil(seconds * static_cast<double>(all - done) / static_cast<double>(done));
  const std::string rest = fmt::format("{}%, {:.0f} s left", done * 100 / all, left);
  return {fmt::format("{} [{:#<{}}{:-<{}}] {}", whole, "", filled, "", kBarWidth - filled, rest), whole + ", " + rest,
          what + ": " + rest, rest};
}

std::string fitting(std::span<const std::string> texts, std::size_t columns) {
  for (const std::string& text : texts) {
    if (text.size() <= columns) return text;
  }
  return texts.empty() ? "" : texts.back().substr(0, columns);
}

ProgressLine::ProgressLine() : shown_at_all_(shows_progress()), last_(std::chrono::steady_clock::now() - kBetween) {}

void ProgressLine::show(std::span<const std::string> texts) {
  if (!shown_at_all_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBetween) return;
  last_ = now;
  // The last column stays free: after writing to it, a terminal may already be on the next line.
  fmt::print(stderr, "\r\033[K{}", fitting(texts, columns() - 1));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace reweave

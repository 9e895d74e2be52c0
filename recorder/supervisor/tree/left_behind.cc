#include "recorder/supervisor/tree/left_behind.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/terminal.h"
#include "recorder/alive_processes.h"

namespace reweave {

namespace {

constexpr std::chrono::milliseconds kEndingTime{1000};  // processes that are about to end do so within this time
constexpr std::size_t kMostListed = 5;
constexpr double kMostSeconds = 1e6;

}  // namespace

LeftBehindLimit parse_left_behind(const std::string& text) {
  if (text == "wait") return {};
  if (text == "kill") return std::chrono::milliseconds(0);
  double seconds = -1;
  std::size_t used = 0;
  try {
    seconds = std::stod(text, &used);
  } catch (const std::logic_error&) {
    used = 0;  // reported below
  }
  REQUIRE(used == text.size() && !text.empty() && seconds >= 0 && seconds <= kMostSeconds,
          "--left-behind: {} is neither wait, kill nor a number of seconds up to {:.0f}", text, kMostSeconds);
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

bool LeftBehind::is_over() {
  const auto now = Clock::now();
  if (!since_) since_ = now;
  const bool is_over = limit_ && now - *since_ >= *limit_;
  if (!said_ && (is_over || now - *since_ >= kEndingTime)) {
    said_ = true;
    say();
  }
  return is_over;
}

void LeftBehind::say() const {
  const std::string names = list();
  if (names.empty()) return;
  std::string what = "the recording continues until they end";
  if (limit_ && limit_->count() == 0) what = "they are stopped";
  if (limit_ && limit_->count() != 0)
    what = fmt::format("they are stopped {} s after its end", static_cast<double>(limit_->count()) / 1000);
  notice("the command has ended, but processes that it started still run: {}; {} (--left-behind)", names, what);
}

std::string LeftBehind::list() const {
  std::string names;
  std::size_t count = 0;
  for (const Process& process : alive_processes(std::as_const(arena_.state()))) {
    if (process.real_pid <= 1 || count++ >= kMostListed) continue;
    const std::string program = std::filesystem::path(process.program).filename().string();
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", process.real_pid, program);
  }
  if (count > kMostListed) names += fmt::format(" and {} more", count - kMostListed);
  return names;
}

}  // namespace reweave

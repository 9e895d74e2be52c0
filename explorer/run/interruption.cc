#include "explorer/run/interruption.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace reweave {

namespace {

// One request may arrive as two signals: timeout(1) signals its child and then the whole group, and `campaign run`
// signals its units after the terminal has done so.
constexpr std::int64_t kSameRequest = 1'000'000'000;  // ns

std::atomic<int> received;
std::atomic<std::int64_t> received_at;

std::int64_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void on_signal(int number) {
  int none = 0;
  if (received.compare_exchange_strong(none, number)) {
    received_at = now();
    return;
  }
  if (now() - received_at < kSameRequest) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

void receive_interruptions(std::initializer_list<int> numbers) {
  for (const int number : numbers) std::signal(number, on_signal);
}

int interruption() { return received.load(); }

}  // namespace reweave

#include "explorer/interruption.h"

#include <atomic>
#include <csignal>

namespace reweave {

namespace {

std::atomic<int> received;

void on_signal(int number) {
  if (received.exchange(number) == 0) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

void receive_interruptions(std::initializer_list<int> numbers) {
  for (const int number : numbers) std::signal(number, on_signal);
}

int interruption() { return received.load(); }

}  // namespace reweave

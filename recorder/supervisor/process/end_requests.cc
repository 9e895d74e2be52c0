#include "recorder/supervisor/process/end_requests.h"

namespace reweave {

namespace {

constexpr int kRequests[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr std::chrono::milliseconds kPassOnDelay{100};

volatile std::sig_atomic_t first_request;
volatile std::sig_atomic_t to_pass_on[NSIG];

// The terminal sends its interrupts to the program as well, but a hangup only to the session leader.
void note_request(int number, siginfo_t* info, void*) {
  const bool is_from_keyboard = info->si_code == SI_KERNEL && number != SIGHUP;
  if (first_request == 0) first_request = number;
  if (!is_from_keyboard) to_pass_on[number] = 1;
}

}  // namespace

void receive_end_requests() {
  for (const int number : kRequests) {
    struct sigaction action = {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_sigaction = note_request;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

int end_request() { return first_request; }

void SignalRelay::look(pid_t process, const TakenSignals& taken) {
  for (const int number : kRequests) {
    const auto index = static_cast<std::size_t>(number);
    if (to_pass_on[number] == 0) continue;
    to_pass_on[number] = 0;
    waiting_.push_back({number, Clock::now(), last_taken_[index]});
  }
  std::erase_if(waiting_, [&](const Waiting& signal) {
    if (taken[static_cast<std::size_t>(signal.number)] != signal.taken) return true;
    if (Clock::now() - signal.since < kPassOnDelay) return false;
    kill(process, signal.number);
    return true;
  });
  last_taken_ = taken;
}

}  // namespace reweave

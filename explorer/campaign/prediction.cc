#include "explorer/campaign/prediction.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "formats/base/counted.h"
#include "formats/base/error.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSelf = "/proc/self/exe";

std::string last_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line))
    if (!line.empty()) last = line;
  return last;
}

// Runs `reweave` with these words in a child. Returns its status; 127 if it cannot be started.
int run_main(std::initializer_list<std::string> words) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(kSelf, argv.data());
    _exit(127);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

}  // namespace

Prediction::~Prediction() { stop(); }

std::string Prediction::file(const char* what) const { return fmt::format("{}/{}-{}", folder_, what, number_); }

void Prediction::start(const std::string& recording) {
  CHECK(!under_way());
  number_++;
  started_ = Clock::now();
  const pid_t parent = getpid();
  pid_ = SYSCALL_CHECK(fork(), "starting a prediction");
  if (pid_ > 0) return;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGTERM, [](int) { kill(0, SIGKILL); });
  if (getppid() != parent) _exit(127);
  predict(recording);
}

void Prediction::predict(const std::string& recording) const {
  // The runs of the campaign take precedence.
  if (nice(5) == -1) errno = 0;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int messages = open(file("messages").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  dup2(nowhere, 0), dup2(nowhere, 1), dup2(messages, 2);
  const std::string trace = file("trace"), candidates = file("candidates");
  int status = run_main({"reweave", "trace", recording, "-o", trace});
  const std::string budget = fmt::format("{:.0f}", seconds_);
  if (status == 0)
    status = run_main({"reweave", "predict", trace, "-o", candidates, "--budget", budget, "--format", "json"});
  unlink(trace.c_str());
  _exit(status);
}

void Prediction::learn(const RunResult& run, std::size_t news) {
  if (run.outcome == wire::OutcomeKind::kPassed && news > most_news_) {
    most_news_ = news;
    newest_ = run;
  }
  if (++runs_ < every_ || most_news_ == 0 || under_way()) return;
  own_recording_ = file("run");
  save_(newest_, own_recording_);
  start(own_recording_);
  every_ *= 2;
  runs_ = most_news_ = 0;
}

bool Prediction::has_ended(int& status) {
  for (;;) {
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) return true;
    if (ended < 0 && errno != EINTR) SYSCALL_CHECK(ended, "waiting for a prediction");
    if (std::chrono::duration<double>(Clock::now() - started_).count() > seconds_) {
      stop();
      if (problem_.empty()) problem_ = fmt::format("took longer than {:.0f} s", seconds_);
      return false;
    }
    if (!waits_) return false;
    usleep(500);
  }
}

std::optional<CandidateSet> Prediction::take() {
  int status = 0;
  if (!under_way() || !has_ended(status)) return {};
  pid_ = -1;
  remove_own_recording();
  taken_ += std::chrono::duration<double>(Clock::now() - started_).count();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    if (problem_.empty()) problem_ = last_line_of(file("messages"));
    return {};
  }
  fs::remove(file("messages"));
  CandidateSet set = read_candidates(file("candidates"));
  candidates_ += set.candidates.size();
  return set;
}

void Prediction::stop() {
  if (!under_way()) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // it may not lead its group yet
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  remove_own_recording();
}

void Prediction::remove_own_recording() {
  if (!own_recording_.empty()) fs::remove_all(std::exchange(own_recording_, ""));
}

std::string Prediction::report() const {
  std::string text = fmt::format("{} predicted from {} in {:.2f} s", counted(candidates_, "candidate"),
                                 counted(number_, "run"), taken_);
  if (under_way()) text += "; the search ended before the last prediction did";
  if (!problem_.empty()) text += fmt::format("; one failed: {}", problem_);
  return text;
}

}  // namespace reweave

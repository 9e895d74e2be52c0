#include "replayer/live/replay_helper.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "formats/base/error.h"
#include "recorder/supervisor/process/passing.h"
#include "replayer/live/strays.h"

namespace reweave {

namespace {

constexpr std::size_t kMostAnswer = 16 << 20;  // bytes

std::vector<std::string> arguments_of(const ReplaySource& source, const HelperTask& task, int answers) {
  std::vector<std::string> list = {source.program, "replay",    source.recording,       "-g",
                                   task.where,     "--hold-fd", std::to_string(answers)};
  const auto add = [&list](std::initializer_list<std::string> more) { list.insert(list.end(), more); };
  if (!source.pid.empty()) add({"-p", source.pid});
  if (task.quiet) add({"--quiet"});
  if (task.makes_checkpoints) add({"--checkpoints"});
  if (task.from != nullptr)
    add({"--copy-of", std::to_string(task.from->requests.get()), "--copy-event", std::to_string(task.from->event)});
  return list;
}

[[noreturn]] void become_helper(const ReplaySource& source, const HelperTask& task, int input, int answers) {
  setsid();                          // so that the terminal's interrupt does not reach it
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // without its user nobody would end it
  dup2(input, STDIN_FILENO);
  if (source.output >= 0) dup2(source.output, STDOUT_FILENO);
  fcntl(answers, F_SETFD, 0);
  if (task.from != nullptr) fcntl(task.from->requests.get(), F_SETFD, 0);
  const std::vector<std::string> list = arguments_of(source, task, answers);
  std::vector<char*> arguments;
  for (const std::string& argument : list) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(source.program.c_str(), arguments.data());
  _exit(kExitInternal);
}

}  // namespace

ReplayHelper::ReplayHelper(const ReplaySource& source, const HelperTask& task) {
  int input[2];
  SYSCALL_CHECK(pipe2(input, O_CLOEXEC), "starting a replay");
  input_ = Fd(input[1]);
  const Fd far_input(input[0]);
  Fd far_answers;
  std::tie(answers_, far_answers) = socket_pair(SOCK_STREAM);
  pid_ = fork();
  SYSCALL_CHECK(pid_, "starting a replay");
  if (pid_ == 0) become_helper(source, task, far_input.get(), far_answers.get());
}

ReplayHelper::~ReplayHelper() {
  input_.reset();
  answers_.reset();
  if (pid_ > 0) status();
}

std::optional<nlohmann::json> ReplayHelper::answer(std::vector<Fd>& passed) {
  char buffer[4096];
  std::size_t end = rest_.find('\n');
  while (end == std::string::npos) {
    const std::size_t got = receive_passed(answers_.get(), buffer, sizeof buffer, passed);
    if (got == 0 || rest_.size() > kMostAnswer) return {};
    rest_.append(buffer, got);
    end = rest_.find('\n');
  }
  const std::string line = rest_.substr(0, end);
  rest_.erase(0, end + 1);
  return nlohmann::json::parse(line);
}

bool ReplayHelper::tell(std::string_view request) const {
  return write(input_.get(), request.data(), request.size()) == static_cast<ssize_t>(request.size());
}

int ReplayHelper::status() {
  int status = 0;
  if (const auto stray = take_stray(pid_))
    status = *stray;
  else
    waitpid(pid_, &status, 0);
  pid_ = 0;
  return status;
}

}  // namespace reweave

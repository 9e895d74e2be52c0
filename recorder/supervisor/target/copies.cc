#include "recorder/supervisor/target/copies.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <span>

#include "formats/base/error.h"
#include "recorder/checkpoint_calls.h"
#include "recorder/supervisor/process/passing.h"

namespace reweave {

namespace {

constexpr int kPatience = 60'000;  // milliseconds; the machine may be very busy

// The answer of the checkpoint, as a number.
int ask_checkpoint(int checkpoint, const CopyRequest& request, std::span<const int> rest) {
  const auto [near, far] = socket_pair(SOCK_SEQPACKET);
  std::vector<int> passed = {far.get()};
  passed.insert(passed.end(), rest.begin(), rest.end());
  send_passing(checkpoint, bytes_of(request), passed);
  CopyAnswer answer = {-ETIMEDOUT};
  std::vector<Fd> none;
  receive_passed(near.get(), &answer, sizeof answer, none, kPatience);
  return answer.value;
}

}  // namespace

MadeCheckpoint make_checkpoint(ArenaMemory& arena, int socket) {
  RunStatus& status = arena.header().status;
  MadeCheckpoint made;
  auto [near, far] = socket_pair(SOCK_SEQPACKET);
  const int passed[] = {far.get()};
  send_passing(socket, bytes_of(CheckpointRequest{}), passed);
  far.reset();
  status.held.store(kToMakeCheckpoint);
  syscall(SYS_futex, &status.held, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  CheckpointAnswer answer = {};
  std::vector<Fd> none;
  if (receive_passed(socket, &answer, sizeof answer, none, kPatience) != sizeof answer) {
    made.why = "the replaying process does not answer";
    return made;
  }
  made.pid = answer.pid;
  answer.why[sizeof answer.why - 1] = 0;
  if (answer.pid > 0)
    made.requests = std::move(near);
  else
    made.why = answer.why;
  return made;
}

Copy::Copy(ArenaMemory& arena, int checkpoint, int output, int checkpoints) : arena_(arena), checkpoint_(checkpoint) {
  guard_.emplace(arena);
  const int none = arena.fd();
  const int rest[] = {arena.fd(), output >= 0 ? output : STDOUT_FILENO, output >= 0 ? output : STDERR_FILENO,
                      checkpoints >= 0 ? checkpoints : none};
  const int answer = ask_checkpoint(checkpoint, {CopyCall::kStart, 0}, rest);
  if (answer <= 0) throw SystemError("starting a copy of a replay", -answer);
  pid_ = answer;
  process_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

bool Copy::collect() {
  if (!status_) {
    pollfd ended = {process_.get(), POLLIN, 0};
    if (process_.valid() ? poll(&ended, 1, 0) <= 0 : kill(pid_, 0) == 0) return true;
    const int answer = ask_status();
    if (answer == -EAGAIN) return true;
    status_ = answer >= 0 ? answer : SIGKILL;
  }
  return others_live(arena_, pid_);
}

int Copy::ask_status() const {
  try {
    return ask_checkpoint(checkpoint_, {CopyCall::kAwait, pid_}, {});
  } catch (const SystemError& error) {
    return -error.error_number();
  }
}

void Copy::kill_all() { kill_tree(arena_, status_ ? 0 : pid_); }

Copy::~Copy() {
  kill_all();
  while (kill_targets_of(arena_)) usleep(1000);
}

}  // namespace reweave

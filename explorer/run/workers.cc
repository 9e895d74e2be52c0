#include "explorer/run/workers.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "explorer/run/guide.h"
#include "explorer/run/messages.h"
#include "formats/base/error.h"
#include "recorder/supervisor/target/processor_claim.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

// Sends the quiet sites only if they differ from `sent`.
Packer pack(const RunRequest& asked, const std::shared_ptr<const QuietSites>& sent) {
  const RunRequest request = with_held_goals(asked);
  Packer message;
  message.put_list(request.policy);
  message.put(request.seed);
  message.put(request.inputs);
  message.put(request.depth);
  message.put(request.length);
  message.put_list(request.goal);
  message.put(request.step_limit);
  message.put(request.fair_limit);
  message.put(request.observe);
  message.put(request.quiet != nullptr);
  message.put(request.quiet != nullptr && request.quiet != sent);
  if (request.quiet == nullptr || request.quiet == sent) return message;
  message.put_list(request.quiet->quiet);
  message.put_list(request.quiet->loud);
  return message;
}

RunRequest unpack_request(Unpacker& message, std::shared_ptr<const QuietSites>& known) {
  RunRequest request;
  message.get_list(request.policy);
  request.seed = message.get<std::uint64_t>();
  request.inputs = message.get<std::uint64_t>();
  request.depth = message.get<std::uint64_t>();
  request.length = message.get<std::uint64_t>();
  message.get_list(request.goal);
  request.step_limit = message.get<std::uint64_t>();
  request.fair_limit = message.get<std::uint64_t>();
  request.observe = message.get<bool>();
  const bool quiet = message.get<bool>(), fresh = message.get<bool>();
  if (fresh) {
    auto sites = std::make_shared<QuietSites>();
    message.get_list(sites->quiet);
    message.get_list(sites->loud);
    known = sites;
  }
  if (quiet) request.quiet = known;
  return request;
}

Packer pack(const RunResult& result) {
  Packer message;
  message.put(true);
  message.put(result.outcome);
  message.put(result.wait_status);
  message.put_list(result.text);
  message.put_list(result.records);
  message.put(result.steps);
  message.put(result.fair_from);
  message.put(result.witness);
  message.put(result.guide);
  message.put(result.seconds);
  message.put(result.called_off);
  message.put_list(result.observed.notes());
  message.put_list(result.observed.enabled_pool());
  message.put(result.observed.truncated());
  message.put_list(result.observed.tail());
  return message;
}

RunResult unpack_result(Unpacker& message) {
  RunResult result;
  result.outcome = message.get<wire::OutcomeKind>();
  result.wait_status = message.get<int>();
  message.get_list(result.text);
  message.get_list(result.records);
  result.steps = message.get<std::uint64_t>();
  result.fair_from = message.get<std::uint64_t>();
  result.witness = message.get<WitnessProgress>();
  result.guide = message.get<GuideProgress>();
  result.seconds = message.get<double>();
  result.called_off = message.get<bool>();
  std::vector<ChoiceNote> notes, tail;
  std::vector<ThreadId> enabled;
  message.get_list(notes);
  message.get_list(enabled);
  const bool truncated = message.get<bool>();
  message.get_list(tail);
  result.observed = Observation(notes, enabled, truncated, std::move(tail));
  return result;
}

// The message that is sent in place of a result after an error.
Packer failed(const std::exception& error) {
  Packer message;
  message.put(false);
  const auto* ours = dynamic_cast<const Error*>(&error);
  message.put(ours != nullptr ? ours->exit_code() : kExitInternal);
  message.put_list(std::string(error.what()));
  return message;
}

RunResult lost_run(const std::string& why) {
  RunResult lost;
  lost.outcome = wire::OutcomeKind::kUnsupported;
  lost.text = why;
  return lost;
}

// Makes the run with the server, or with a new one if there is none. After an error the server's state is unknown, so
// it is given up together with the run.
Packer run_request(std::unique_ptr<ForkServer>& server, const std::function<std::unique_ptr<ForkServer>()>& make,
                   Unpacker& message, std::shared_ptr<const QuietSites>& quiet) {
  const RunRequest request = unpack_request(message, quiet);
  try {
    if (server == nullptr) server = make();
  } catch (const std::exception& error) {
    return failed(error);
  }
  try {
    return pack(server->run(request));
  } catch (const std::exception& error) {
    server.reset();
    return pack(lost_run(error.what()));
  }
}

// The worker's process: the first message says whether the server is ready, each further one is a result.
void serve(const std::string& recording, std::uint64_t fork_at, Clock::time_point deadline, int requests, int results) {
  const auto make = [&] { return std::make_unique<ForkServer>(recording, fork_at, deadline); };
  std::unique_ptr<ForkServer> server;
  try {
    server = make();
  } catch (const std::exception& error) {
    failed(error).send(results);
    return;
  }
  Packer ready;
  ready.put(true);
  ready.put(server->departure());
  if (!ready.send(results)) return;
  Inbox inbox(requests);
  std::shared_ptr<const QuietSites> quiet;
  bool heard = true;
  while (std::optional<Unpacker> message = inbox.next())
    heard = heard && run_request(server, make, *message, quiet).send(results);
}

// Throws the error that the worker reports instead of a result, with its exit status.
void expect_success(Unpacker& message) {
  if (message.get<bool>()) return;
  const int status = message.get<int>();
  std::string problem;
  message.get_list(problem);
  if (status == kExitBadInput) throw BadInput(problem);
  throw Error(problem, status);
}

}  // namespace

Worker::Worker(const std::string& recording, std::uint64_t fork_at, Clock::time_point deadline) {
  int requests[2], results[2];
  SYSCALL_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, requests), "sockets to a worker");
  SYSCALL_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, results), "sockets from a worker");
  give_up_processor();  // workers claim processors of their own instead of inheriting ours
  pid_ = fork();
  SYSCALL_CHECK(pid_, "starting a worker");
  if (pid_ == 0) {
    // Ignore signals that the terminal or timeout(1) sends to the whole group: the campaign ends its workers.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(requests[1]);
    close(results[0]);
    serve(recording, fork_at, deadline, requests[0], results[1]);
    _exit(0);
  }
  close(requests[0]);
  close(results[1]);
  to_ = requests[1];
  from_ = results[0];
  Unpacker message;
  REQUIRE(message.receive(from_), "a worker ended before it could run anything");
  expect_success(message);
  departure_ = message.get<Departure>();
}

void Worker::stop() {
  if (to_ < 0) return;
  send_stop(to_);
  close(to_);
  close(from_);
  to_ = from_ = -1;
}

Worker::~Worker() {
  stop();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Worker::start(const RunRequest& request) {
  pack(request, sent_).send(to_);  // finish() notices if the worker has ended
  if (request.quiet != nullptr) sent_ = request.quiet;
}

std::optional<RunResult> Worker::finish() {
  Unpacker message;
  if (!message.receive(from_)) return {};
  expect_success(message);
  return unpack_result(message);
}

Workers::Workers(const std::string& recording, std::uint64_t fork_at, unsigned count, Clock::time_point deadline)
    : make_([=] { return std::make_unique<Worker>(recording, fork_at, deadline); }) {
  for (unsigned i = 0; i < count; i++) workers_.push_back(make_());
}

// Stops all workers before waiting for one. Each worker has copies of the earlier workers' sockets, and as long as
// these are open the earlier workers do not notice that their results are no longer wanted.
Workers::~Workers() {
  for (const std::unique_ptr<Worker>& worker : workers_) worker->stop();
}

Departure Workers::departure() const { return workers_.front()->departure(); }

void Workers::start(const RunRequest& request) {
  CHECK(started() < capacity());
  const std::size_t worker = next_++ % workers_.size();
  workers_[worker]->start(request);
  started_.push_back({request, worker, {}});
}

void Workers::complete(Started& run) {
  if (run.result) return;
  run.result = workers_[run.worker]->finish();
  if (run.result) return;
  run.result = lost_run("the process that made the run ended");
  replace(run.worker);
}

// Starts a new worker for the runs that the ended one has not made.
void Workers::replace(std::size_t worker) {
  workers_[worker] = make_();
  for (const Started& run : started_)
    if (run.worker == worker && !run.result) workers_[worker]->start(run.request);
}

Workers::Done Workers::finish() {
  CHECK(!started_.empty());
  complete(started_.front());
  Started first = std::move(started_.front());
  started_.pop_front();
  return {std::move(first.request), std::move(*first.result)};
}

RunResult Workers::run(const RunRequest& request) {
  for (Started& run : started_) complete(run);
  Started only = {request, 0, {}};
  workers_.front()->start(request);
  complete(only);
  return std::move(*only.result);
}

}  // namespace reweave

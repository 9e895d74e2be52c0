#include "explorer/run/fork_server.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "explorer/strategies/goals.h"
#include "formats/base/error.h"
#include "recorder/beginning.h"
#include "recorder/live_threads.h"
#include "recorder/supervisor/record/hidden_environment.h"
#include "recorder/supervisor/record/record_session.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSmallestFeed = 1 << 20;
constexpr std::uint64_t kLargestFeed = std::uint64_t{4} << 30;
// A run that fails or leaves the recording, and has at most this many bytes of records, is observed even if the request
// does not ask for it.
constexpr std::size_t kShortRun = 1 << 20;
// A run without a schedule point for this long spins outside instrumented code.
constexpr std::chrono::seconds kRunLimit{10};
// A run that has logged more bytes than this, and more than twice as many as the recorded run, continues under the fair
// schedule. It is given up at kGivenUpFactor times as many.
constexpr std::uint64_t kManyRecords = 64 << 20;
constexpr std::uint64_t kGivenUpFactor = 4;

// The supervisor's reasons for ending a run.
constexpr const char* kCalledOff = "the time is up";
constexpr const char* kLoggedTooMuch = "it logged many times what the recorded run did";
constexpr const char* kComputesAlone =
    "a thread computed for 10 seconds without a schedule point while others could run; build the program with "
    "reweave-cc or -fsanitize=thread";

// The size of a feed for all records of the recording at once, because runs read any of them.
std::uint64_t feed_bytes(const std::string& recording, RecordedFiles& files) {
  RecordingReader reader(recording);
  std::uint64_t total = 0;
  while (const wire::RecordHeader* record = reader.next()) total += files.located(record)->bytes;
  REQUIRE(total <= kLargestFeed, "{} is too long to explore ({} MiB of records; the limit is 4 GiB)", recording,
          total >> 20);
  return std::max(kSmallestFeed, std::bit_ceil(total + 1));
}

// The global number of the schedule point at which the record was written; 0 if it has none.
std::uint64_t step_of(const wire::RecordHeader* record) {
  switch (static_cast<wire::RecordKind>(record->kind)) {
    case wire::RecordKind::kSwitch:
      return wire::record_cast<wire::SwitchRecord>(*record).step;
    case wire::RecordKind::kSyscall:
      return wire::record_cast<wire::SyscallRecord>(*record).step;
    case wire::RecordKind::kClock:
      return wire::record_cast<wire::ClockRecord>(*record).step;
    default:
      return 0;
  }
}

// Appends the records at [data, data + bytes), without the gaps that the target leaves when it starts the ring over.
void append_records(std::vector<std::byte>& to, const std::byte* data, std::uint64_t bytes) {
  std::uint64_t kept = 0, at = 0;  // [kept, at): records not yet appended
  const auto append = [&] { to.insert(to.end(), data + kept, data + at); };
  while (at < bytes) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(data + at);
    REQUIRE(bytes - at >= sizeof *record && record->bytes >= sizeof *record && record->bytes % 8 == 0 &&
                record->bytes <= bytes - at,
            "an explored run overwrote its own log");
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kNone)) {
      append();
      kept = at + record->bytes;
    }
    at += record->bytes;
  }
  append();
}

void futex_wake(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, long nanoseconds) {
  const timespec limit = {0, nanoseconds};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

}  // namespace

ForkServer::ForkServer(const std::string& recording, std::uint64_t fork_at, Clock::time_point deadline)
    : reader_(recording),
      files_(reader_.folder(), reader_.manifest()),
      server_(feed_bytes(recording, files_)),
      runs_(64 << 10),
      fork_at_(fork_at),
      deadline_(deadline) {
  files_.check();
  const Manifest& manifest = reader_.manifest();
  reader_.require_run();
  // An explored run checks the heap from the place where it began (heap_checks_from). Runs from that run's recording
  // can begin at main or at the same place, but nowhere else.
  REQUIRE(fork_at == 0 || !manifest.heap_checks || fork_at == manifest.heap_checks_from,
          "{} comes from a search; runs that begin later than at main need the recording that was searched", recording);
  RunConfig& config = server_.header().config;
  config = make_config(Mode::kReplay, manifest.seed, "native", find_runtime());
  config.fork_server = 1;
  config.fork_at = fork_at;
  config.detect_memory_errors = 1;
  feed_all();
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  target_ = std::make_unique<Target>(server_, TargetProgram{manifest.command_line.front(), manifest.command_line,
                                                            with_given_values(manifest.environment), null, runs_.fd()});
  close(null);
  wait_until_ready();
}

void ForkServer::feed_all() {
  while (const wire::RecordHeader* record = reader_.next()) {
    const wire::RecordHeader* located = files_.located(record);
    CHECK(server_.offer(located, located->bytes), "the feed is too small");
    last_step_ = std::max(last_step_, step_of(record));
  }
  server_.close_feed();
}

void ForkServer::wait_until_ready() {
  RunStatus& status = server_.header().status;
  while (status.server_ready.load() == 0) {
    if (Clock::now() >= deadline_)
      throw BadInput(
          fmt::format("the time was up before {} was replayed to the place where runs begin; allow more time",
                      reader_.path()),
          kExitNotExamined);
    if (status.fatal.load() != 0)
      throw BadInput(
          fmt::format("{} cannot be replayed to the place where runs begin: {}", reader_.path(), status.message));
    const bool runs = target_->collect();
    REQUIRE(runs || !is_at_point(fork_at_), "{} has no schedule point {} to begin runs at", reader_.path(),
            point_of(fork_at_));
    REQUIRE(runs || fork_at_ == 0, "{} never reached the function where runs begin", reader_.path());
    REQUIRE(runs, "{} never reached main: explore needs a dynamically linked program", reader_.path());
    futex_wait(status.server_ready, 0, 1'000'000);
  }
  prefix_records_ = status.event.load();
}

Departure ForkServer::departure() const {
  const std::uint64_t step = departure_step();
  // In the recording of an explored run, sleds were schedule points already.
  const bool has_sleds = const_cast<ArenaMemory&>(server_).state().armed_sleds != 0 && !reader_.manifest().heap_checks;
  return {fork_at_, prefix_records_, last_step_ > step ? last_step_ - step : 0, has_sleds};
}

std::uint64_t ForkServer::departure_step() const { return const_cast<ArenaMemory&>(server_).state().step; }

void ForkServer::prepare(const RunRequest& request) {
  ArenaHeader& header = runs_.header();
  RunConfig config = server_.header().config;
  config.mode = Mode::kRecord;
  config.environment = Environment::kModelled;
  config.fair_from = departure_step() + request.step_limit;
  config.tick_budget = config.fair_from + (request.fair_limit != 0 ? request.fair_limit : request.step_limit);
  config.observe = 1;  // only the run's end shows whether it must be examined
  REQUIRE(request.policy.size() < sizeof config.policy.name, "unknown strategy {}", request.policy);
  REQUIRE(request.goal.size() <= kGoalBytes, "the schedule to follow is too long");
  std::memset(config.policy.name, 0, sizeof config.policy.name);
  request.policy.copy(config.policy.name, sizeof config.policy.name - 1);
  config.policy.seed = request.seed;
  config.policy.inputs = request.inputs;
  config.policy.depth = request.depth;
  config.policy.length = request.length;
  config.policy.slice = std::max<std::uint64_t>(request.length / 4, 4);
  config.policy.goal_bytes = request.goal.size();
  header.config = config;
  silence(request.quiet);
  std::memcpy(runs_.goal(), request.goal.data(), request.goal.size());
  header.status.fatal.store(0);
  header.status.event.store(0);
  header.status.message[0] = 0;
  header.out.head.store(0);
  header.out.tail.store(0);
  header.ring.saved.store(0);
}

void ForkServer::silence(const std::shared_ptr<const QuietSites>& quiet) {
  if (quiet == quiet_) return;
  quiet_ = quiet;
  std::byte* table = runs_.quiet();
  std::memset(table, 0, kQuietBytes);
  if (quiet == nullptr) return;
  for (const std::uint64_t pc : quiet->quiet) table[quiet_slot(pc)] = std::byte{1};
  for (const std::uint64_t pc : quiet->loud) table[quiet_slot(pc)] = std::byte{0};
}

void ForkServer::collect(std::vector<std::byte>& to) {
  const ArenaMemory::Span span = runs_.published();
  if (span.bytes == 0) return;
  append_records(to, span.data, span.bytes);
  runs_.take(span.bytes);
}

// Starts the fair schedule now instead of later, with the same number of points.
void ForkServer::make_fair() {
  RunConfig& config = runs_.header().config;
  const std::uint64_t points = config.tick_budget - config.fair_from;
  const std::uint64_t now = std::min(runs_.state().step, config.fair_from);
  std::atomic_ref(config.tick_budget).store(now + points, std::memory_order_relaxed);
  std::atomic_ref(config.fair_from).store(now, std::memory_order_relaxed);
}

bool ForkServer::others_can_run() {
  for (const Thread& thread : live_threads(std::as_const(runs_.state())))
    if (thread.state.load() == ThreadState::kReady) return true;
  return false;
}

const char* ForkServer::await_end() {
  RunStatus& status = server_.header().status;
  // A run that reaches schedule points is only slow; its step limit ends it.
  Clock::time_point limit = Clock::now() + kRunLimit;
  const std::uint64_t many_records = std::max(kManyRecords, 2 * server_.header().feed.bytes);
  bool made_fair = false;
  std::uint64_t step = 0;
  const char* killed = nullptr;
  while (status.server_done.load() != requests_) {
    futex_wait(status.server_done, requests_ - 1, 2'000'000);
    collect(records_);
    const std::int32_t pid = status.run_pid.load();
    if (const std::uint64_t now = runs_.state().step; now != step) {
      step = now;
      limit = Clock::now() + kRunLimit;
    }
    if (records_.size() > many_records && !made_fair) {
      made_fair = true;
      make_fair();
    }
    if (killed == nullptr && pid > 1) {
      if (Clock::now() > limit) killed = others_can_run() ? kComputesAlone : kNoSchedulePoint;
      if (records_.size() > kGivenUpFactor * many_records) killed = kLoggedTooMuch;
      if (Clock::now() > deadline_) killed = kCalledOff;
      if (killed != nullptr && kill(-pid, SIGKILL) != 0) kill(pid, SIGKILL);  // it has no process group yet
    }
    REQUIRE(target_->collect() || status.server_done.load() == requests_, "the fork server ended");
  }
  collect(records_);
  return killed;
}

RunResult ForkServer::result(const char* killed) const {
  auto& self = const_cast<ForkServer&>(*this);
  const RunStatus& status = self.runs_.header().status;
  RunResult result;
  result.wait_status = self.server_.header().status.run_status;
  result.outcome = outcome_of(result.wait_status);
  const std::uint64_t step = self.runs_.state().step, fair_from = self.runs_.header().config.fair_from;
  result.steps = step - departure_step();
  result.fair_from = step > fair_from ? fair_from : 0;
  PolicyState& policy = self.runs_.state().policy;
  std::memcpy(&result.witness, policy.words.begin(), sizeof result.witness);
  if (self.runs_.header().config.policy.name == std::string_view("guided"))
    std::memcpy(&result.guide, policy.guide.begin(), sizeof result.guide);
  if (status.fatal.load() != 0) {
    result.outcome = static_cast<wire::OutcomeKind>(status.outcome.load());
    result.text = status.message;
    result.wait_status = 0;
  } else if (killed == kCalledOff) {
    result.outcome = wire::OutcomeKind::kPassed;
    result.called_off = true;
  } else if (killed != nullptr) {
    result.outcome = killed == kNoSchedulePoint ? wire::OutcomeKind::kHang : wire::OutcomeKind::kUnsupported;
    result.text = killed;
  }
  return result;
}

RunResult ForkServer::run(const RunRequest& request) {
  prepare(request);
  records_.clear();
  RunStatus& status = server_.header().status;
  requests_++;
  const Clock::time_point start = Clock::now();
  status.server_request.fetch_add(1);
  futex_wake(status.server_request);
  RunResult done = result(await_end());
  done.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  done.records = records_;
  const bool matters = done.failed() || done.outcome == wire::OutcomeKind::kLeftRecording;
  if (request.observe || (matters && records_.size() <= kShortRun)) done.observed = Observation(runs_.notes());
  return done;
}

}  // namespace reweave

#include "replayer/hold_plan.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "formats/base/error.h"
#include "recorder/supervisor/process/call_names.h"

namespace reweave {

namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

std::uint64_t parse_event(const std::string& where) {
  const bool digits = !where.empty() && where.size() < 19 &&
                      std::all_of(where.begin(), where.end(), [](char c) { return c >= '0' && c <= '9'; });
  REQUIRE(digits,
          "-g {}: give the number of an event, as `reweave dump` shows them, a position, as `when` shows it in gdb, "
          "`end`, or "
          "`inevitable`",
          where);
  return std::max<std::uint64_t>(std::stoull(where), 1);  // the first record starts the program; nothing precedes it
}

template <typename Record>
const Record& as(const wire::RecordHeader* record) {
  return *reinterpret_cast<const Record*>(record);
}

// True for signals that end a process because of its own defect.
bool is_fault(int signal) {
  for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
    if (signal == fault) return true;
  return false;
}

// Walks the recording once.
class Planner {
 public:
  Planner(const std::string& recording, const std::string& where, std::int32_t pid)
      : reader_(recording), wanted_(where == "end" ? kNowhere : parse_event(where)) {
    if (pid != 0) plan_.process = process_of(pid);
  }

  HoldPlan run() {
    while (const wire::RecordHeader* record = reader_.next()) visit(reader_.position() - 1, record);
    plan_.total = reader_.position();
    plan_.processes = reader_.manifest().processes.size();
    REQUIRE(wanted_ == kNowhere || wanted_ <= plan_.total,
            "{} has only the events 0 to {}; -g end stops at the last event before the program ends", reader_.path(),
            plan_.total - 1);
    if (wanted_ == kNowhere && !plan_.process && !outcome_)
      plan_.process = reader_.truncated() && last_exit_ ? last_exit_ : failing_process();
    const std::uint64_t end = end_of(plan_.process.value_or(0));
    plan_.at_end = wanted_ == kNowhere || wanted_ == end;
    if (plan_.at_end) plan_.next_thread.reset();  // the process held there is the one that ends
    plan_.event = wanted_ == kNowhere ? end : wanted_;
    if (plan_.process || reader_.manifest().processes.size() == 1) note_limits(plan_.process.value_or(0), end);
    if (plan_.process) stay_within(*plan_.process, end);
    plan_.ending = ending();
    for (const MappedFile& file : reader_.manifest().files)
      if (file.path.ends_with("/libreweave-tsan.so")) plan_.replaces_tsan = true;
    return plan_;
  }

 private:
  std::uint32_t process_of(std::int32_t pid) const {
    for (const ProcessInfo& process : reader_.manifest().processes)
      if (process.pid == pid) return process.index;
    throw BadInput(fmt::format("{} has no process {}; `reweave ps` lists them", reader_.path(), pid));
  }

  void visit(std::uint64_t index, const wire::RecordHeader* record) {
    const auto kind = static_cast<wire::RecordKind>(record->kind);
    note_loading(index, kind, record);
    if (index + 1 == wanted_ && kind == wire::RecordKind::kSwitch)
      plan_.next_thread = as<wire::SwitchRecord>(record).to;
    if (kind == wire::RecordKind::kSpawn)
      process_of_thread_[as<wire::SpawnRecord>(record).child] = as<wire::SpawnRecord>(record).process;
    if (const auto found = process_of_thread_.find(record->thread); found != process_of_thread_.end())
      first_record_.try_emplace(found->second, index);
    if (kind == wire::RecordKind::kOutcome && !outcome_) outcome_ = Outcome{index, record->thread};
    last_exit_.reset();
    if (kind == wire::RecordKind::kProcessExit) note_exit(index, as<wire::ProcessExitRecord>(record));
  }

  void note_exit(std::uint64_t index, const wire::ProcessExitRecord& record) {
    const int status = record.wait_status & 0xffff;
    exits_.try_emplace(record.process, Exit{index, status});
    last_exit_ = record.process;
    if (WIFSIGNALED(status) && is_fault(WTERMSIG(status))) last_fault_ = record.process;
  }

  // Moves the wanted event past the loading of a program: there is nothing to debug before its first system call.
  void note_loading(std::uint64_t index, wire::RecordKind kind, const wire::RecordHeader* record) {
    if (kind == wire::RecordKind::kExec) loading_[record->thread] = index;
    const auto found = loading_.find(record->thread);
    if (found == loading_.end() || kind != wire::RecordKind::kSyscall) return;
    if (is_program_start(as<wire::SyscallRecord>(record).number)) return;
    if (wanted_ != kNowhere && wanted_ >= found->second && wanted_ <= index) wanted_ = index + 1;
    plan_.loading.emplace_back(found->second, index);
    loading_.erase(found);
  }

  std::uint32_t failing_process() const {
    return reader_.manifest().outcome == wire::OutcomeKind::kPassed ? 0 : last_fault_.value_or(0);
  }

  // The event at which the process ends, or the whole run if that is earlier.
  std::uint64_t end_of(std::uint32_t process) const {
    const auto found = exits_.find(process);
    const std::uint64_t end = outcome_ ? outcome_->event : plan_.total;
    return found == exits_.end() ? end : std::min(found->second.event, end);
  }

  // A process can be debugged only after its own first event.
  void stay_within(std::uint32_t process, std::uint64_t end) {
    const auto first = first_record_.find(process);
    const std::int32_t pid = reader_.manifest().processes[process].pid;
    REQUIRE(first != first_record_.end(), "process {} has no recorded events", pid);
    REQUIRE(plan_.event <= end, "process {} ended at event {}", pid, end);
    if (plan_.event <= first->second) plan_.event = first->second + 1;
    plan_.next_thread.reset();
  }

  // True if the debugged process does not run again, because another one kills it or is the last one to run.
  bool rests() const {
    if (!plan_.process) return false;
    const auto found = exits_.find(*plan_.process);
    if (found != exits_.end()) return WIFSIGNALED(found->second.status) && WTERMSIG(found->second.status) == SIGKILL;
    const auto last = outcome_ ? process_of_thread_.find(outcome_->thread) : process_of_thread_.end();
    return last != process_of_thread_.end() && last->second != *plan_.process;
  }

  Ending ending() const {
    if (rests()) return Ending::kRests;
    const auto found = exits_.find(plan_.process.value_or(0));
    if (plan_.process.value_or(0) != 0 && found != exits_.end())
      return WIFSIGNALED(found->second.status) ? Ending::kSignalled : Ending::kExits;
    if (reader_.truncated() && !outcome_) return Ending::kTruncated;  // the manifest describes the whole run
    const Manifest& manifest = reader_.manifest();
    switch (manifest.outcome) {
      case wire::OutcomeKind::kPassed:
      case wire::OutcomeKind::kExitStatus:
      case wire::OutcomeKind::kSignalled:
      case wire::OutcomeKind::kCheckFailed:
        return WIFSIGNALED(manifest.wait_status) ? Ending::kSignalled : Ending::kExits;
      case wire::OutcomeKind::kTruncated:
        return Ending::kTruncated;
      default:
        return Ending::kStopped;
    }
  }

  void note_limits(std::uint32_t process, std::uint64_t end) {
    plan_.last = end;
    if (const auto first = first_record_.find(process); first != first_record_.end()) plan_.first = first->second + 1;
  }

  struct Exit {
    std::uint64_t event;
    int status;  // as wait(2) encodes it
  };

  struct Outcome {
    std::uint64_t event;
    ThreadId thread;  // the thread that ran last
  };

  RecordingReader reader_;
  std::uint64_t wanted_;
  std::map<ThreadId, std::uint64_t> loading_;  // index of the exec record, by thread, while its program is being loaded
  std::map<ThreadId, std::uint32_t> process_of_thread_;
  std::map<std::uint32_t, std::uint64_t> first_record_;  // the process's own first record, by process
  std::map<std::uint32_t, Exit> exits_;                  // by process
  std::optional<Outcome> outcome_;                       // the record by which the runtime ended the run
  std::optional<std::uint32_t> last_fault_;              // the last process that died of a fault
  std::optional<std::uint32_t> last_exit_;               // the process whose end is the last record so far
  HoldPlan plan_;
};

}  // namespace

HoldPlan plan_hold(const std::string& recording, const std::string& where, std::int32_t pid) {
  return Planner(recording, where, pid).run();
}

}  // namespace reweave

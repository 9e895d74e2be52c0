#include "replayer/hold_plan.h"

#include <sys/wait.h>

#include <algorithm>
#include <map>

#include "formats/error.h"
#include "recorder/supervisor/call_names.h"

namespace reweave {

namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

std::uint64_t parse_event(const std::string& where) {
  const bool digits = !where.empty() && where.size() < 19 &&
                      std::all_of(where.begin(), where.end(), [](char c) { return c >= '0' && c <= '9'; });
  REQUIRE(digits, "-g {}: give the number of an event, as `reweave dump` shows them, or `end`", where);
  return std::max<std::uint64_t>(std::stoull(where), 1);  // the first record starts the program: nothing is before it
}

template <typename Record>
const Record& as(const wire::RecordHeader* record) {
  return *reinterpret_cast<const Record*>(record);
}

// Walks the recording once.
class Planner {
 public:
  Planner(const std::string& recording, const std::string& where)
      : reader_(recording), wanted_(where == "end" ? kNowhere : parse_event(where)) {}

  HoldPlan run() {
    while (const wire::RecordHeader* record = reader_.next()) visit(reader_.position() - 1, record);
    plan_.total = reader_.position();
    if (end_ == kNowhere) end_ = plan_.total;
    plan_.at_end = wanted_ == kNowhere || wanted_ == end_;
    REQUIRE(wanted_ == kNowhere || wanted_ <= plan_.total,
            "{} has only the events 0 to {}; -g end stops at the last before the end", reader_.path(), plan_.total - 1);
    if (plan_.at_end) plan_.next_thread.reset();  // whoever holds there is the one that ends
    plan_.event = wanted_ == kNowhere ? end_ : wanted_;
    plan_.ending = ending();
    for (const MappedFile& file : reader_.manifest().files)
      if (file.path.ends_with("/libreweave-tsan.so")) plan_.replaces_tsan = true;
    return plan_;
  }

 private:
  void visit(std::uint64_t index, const wire::RecordHeader* record) {
    const auto kind = static_cast<wire::RecordKind>(record->kind);
    note_loading(index, kind, record);
    if (index + 1 == wanted_ && kind == wire::RecordKind::kSwitch)
      plan_.next_thread = as<wire::SwitchRecord>(record).to;
    if (end_ == kNowhere && ends(kind, record)) end_ = index;
  }

  // Moves the wanted event past the loading of a program: until its first system call there is nothing to debug.
  void note_loading(std::uint64_t index, wire::RecordKind kind, const wire::RecordHeader* record) {
    if (kind == wire::RecordKind::kExec) loading_[record->thread] = index;
    const auto found = loading_.find(record->thread);
    if (found == loading_.end() || kind != wire::RecordKind::kSyscall) return;
    if (is_program_start(as<wire::SyscallRecord>(record).number)) return;
    if (wanted_ != kNowhere && wanted_ >= found->second && wanted_ <= index) wanted_ = index + 1;
    loading_.erase(found);
  }

  static bool ends(wire::RecordKind kind, const wire::RecordHeader* record) {
    return kind == wire::RecordKind::kOutcome ||
           (kind == wire::RecordKind::kProcessExit && as<wire::ProcessExitRecord>(record).process == 0);
  }

  Ending ending() const {
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

  RecordingReader reader_;
  std::uint64_t wanted_;
  std::uint64_t end_ = kNowhere;
  std::map<ThreadId, std::uint64_t> loading_;  // index of the exec record of a thread whose program is being loaded
  HoldPlan plan_;
};

}  // namespace

HoldPlan plan_hold(const std::string& recording, const std::string& where) { return Planner(recording, where).run(); }

}  // namespace reweave

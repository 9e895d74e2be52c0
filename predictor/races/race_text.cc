#include "predictor/races/race_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/trace/process_addresses.h"

namespace reweave {

namespace {

constexpr const char* kKindNames[] = {"data race",
                                      "heap-use-after-free",
                                      "thread leak",
                                      "destroy of a locked mutex",
                                      "unlock of an unlocked mutex (or by a wrong thread)",
                                      "lock-order-inversion (potential deadlock)",
                                      "data race on vptr (ctor/dtor vs virtual call)",
                                      "heap-use-after-free (virtual call vs free)"};
static_assert(std::size(kKindNames) == static_cast<std::size_t>(RaceKind::kVirtualUseAfterFree) + 1);
constexpr const char* kRule = "==================\n";

const char* kind_of(const RaceFinding& finding) { return kind_name(finding.kind); }

std::uint64_t shown(std::uint64_t address) { return address & kAddressMask; }

std::string what_is_done(const RacingAccess& access, bool first) {
  std::string text = fmt::format("{}{}", access.atomic ? "atomic " : "", access.write ? "write" : "read");
  if (!first) return "Previous " + text;
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

}  // namespace

const char* kind_name(RaceKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::string RaceText::place_of(const ReportFrame& frame) const {
  if (frame.file.empty()) return "<null>";
  std::string file = frame.file;
  const std::string& prefix = options_.strip_path_prefix;
  if (const std::size_t at = prefix.empty() ? file.npos : file.find(prefix); at != file.npos)
    file.erase(0, at + prefix.size());
  return fmt::format("{}:{}", file, frame.line);
}

std::string RaceText::stack(const NamedPlace& place) {
  std::string text;
  std::size_t number = 0;
  for (const ReportFrame& frame : places_.frames(place)) {
    const std::string where =
        frame.offset == 0 ? file_name(frame.module) : fmt::format("{}+{:#x}", file_name(frame.module), frame.offset);
    text += fmt::format("    #{} {} {} ({})\n", number++, frame.function.empty() ? "<null>" : frame.function,
                        place_of(frame), where);
  }
  return (text.empty() ? "    [failed to restore the stack]\n" : text) + "\n";
}

std::string RaceText::summary(const RaceFinding& finding) {
  const NamedPlace& place = !finding.accesses.empty() ? finding.accesses[0].where
                            : !finding.stacks.empty() ? finding.stacks[0]
                                                      : findings_.threads[finding.threads[0]].made;
  const std::vector<ReportFrame> frames = places_.frames({place.place, TopFunction::kNoFunction});
  if (frames.empty()) return kind_of(finding);
  const ReportFrame& top = frames.front();
  const std::string where = top.file.empty() ? fmt::format("({}+{:#x})", top.module, top.offset) : place_of(top);
  return fmt::format("{} {}{}", kind_of(finding), where, top.function.empty() ? "" : " in " + top.function);
}

std::int64_t RaceText::pid_of(std::uint16_t process) const {
  for (const TraceThreadInfo& thread : trace_.info().threads)
    if (thread.process == process) return thread.tid;
  return 0;
}

std::string RaceText::name_of_thread(ThreadId thread) const {
  const std::uint32_t number = findings_.threads[thread].number;
  return number == 0 ? "main thread" : fmt::format("thread T{}", number);
}

// Locks are numbered within each report.
std::string RaceText::lock_name(std::uint32_t lock) {
  const auto at = std::find(locks_.begin(), locks_.end(), lock);
  const auto number = at - locks_.begin();
  if (at == locks_.end()) locks_.push_back(lock);
  return fmt::format("M{}", number);
}

std::string RaceText::access(const RacingAccess& access, bool first) {
  std::string held;
  for (const LockHeld& lock : access.held)
    held += fmt::format("{} {} {}", held.empty() ? " (mutexes:" : ",", lock.exclusive ? "write" : "read",
                        lock_name(lock.lock));
  return fmt::format("  {} of size {} at {:#x} by {}{}{}:\n{}", what_is_done(access, first), access.bytes,
                     shown(access.address), name_of_thread(access.thread), held, held.empty() ? "" : ")",
                     stack(access.where));
}

std::string RaceText::location(const RaceFinding& finding) {
  if (const auto& block = finding.block) {
    if (block->is_stack) return fmt::format("  Location is stack of {}.\n\n", name_of_thread(block->thread));
    return fmt::format("  Location is heap block of size {} at {:#x} allocated by {}:\n{}", block->bytes,
                       shown(block->address), name_of_thread(block->thread), stack(block->made));
  }
  const GlobalVariable global = places_.global(finding.address);
  if (global.name.empty()) return "";
  const std::string size = global.size == 0 ? "" : fmt::format(" of size {}", global.size);
  return fmt::format("  Location is global '{}'{} at {:#x} ({}+{:#x})\n\n", global.name, size, global.address,
                     file_name(global.module), global.offset);
}

std::string RaceText::thread(const RaceFinding& finding, ThreadId id) {
  const ThreadOrigin& thread = findings_.threads[id];
  if (thread.number == 0) return "";
  std::int64_t tid = 0;
  for (const TraceThreadInfo& info : trace_.info().threads)
    if (info.id == id) tid = info.tid;
  return fmt::format("  Thread T{} (tid={}, {}) created by {} at:\n{}", thread.number, tid,
                     thread.ended_at < finding.event ? "finished" : "running", name_of_thread(thread.parent),
                     stack(thread.made));
}

std::string RaceText::lock_order(const RaceFinding& finding) {
  std::string text = "  Cycle in lock order graph: ";
  for (const std::uint32_t lock : finding.locks)
    text += fmt::format("{} ({:#x}) => ", lock_name(lock), shown(findings_.locks[lock].address));
  text += lock_name(finding.locks[0]) + "\n\n";
  for (std::size_t i = 0; i < finding.locks.size(); i++) {
    const std::uint32_t next = finding.locks[(i + 1) % finding.locks.size()];
    text += fmt::format("  Mutex {} acquired here while holding mutex {} in {}:\n{}", lock_name(next),
                        lock_name(finding.locks[i]), name_of_thread(finding.threads[i]), stack(finding.stacks[i]));
  }
  return text;
}

std::string RaceText::report(const RaceFinding& finding) {
  locks_.clear();
  std::string text =
      fmt::format("{}WARNING: ThreadSanitizer: {} (pid={})\n", kRule, kind_of(finding), pid_of(finding.process));
  if (finding.kind == RaceKind::kLockOrder) {
    text += lock_order(finding);
  } else {
    for (std::size_t i = 0; i < finding.stacks.size(); i++)
      text += (i == 0 ? "" : "  and:\n") + stack(finding.stacks[i]);
    for (std::size_t i = 0; i < finding.accesses.size(); i++) text += access(finding.accesses[i], i == 0);
    if (finding.address != 0) text += location(finding);
    for (const std::uint32_t lock : finding.locks) lock_name(lock);
    for (std::size_t i = 0; i < locks_.size(); i++) {
      const LockOrigin& lock = findings_.locks[locks_[i]];
      text += fmt::format("  Mutex M{} ({:#x}) created at:\n{}", i, shown(lock.address), stack(lock.made));
    }
    for (const ThreadId id : finding.threads) text += thread(finding, id);
    if (finding.count > 1) text += fmt::format("  And {} more similar thread leaks.\n\n", finding.count - 1);
  }
  return text + fmt::format("SUMMARY: ThreadSanitizer: {}\n{}", summary(finding), kRule);
}

}  // namespace reweave

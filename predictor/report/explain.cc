// Describes events and findings in sentences for people.
#include <array>

#include "predictor/report/report.h"

namespace reweave {
namespace {

// The parts of a sentence: thread and verb of each event, and what it operates on.
struct Words {
  const TraceModel& model;
  const Finding& finding;
  const Names& names;

  std::string who(std::size_t i) const { return thread_text(finding.events.at(i).thread, names); }
  std::string does(std::size_t i) const { return verb_of(model, finding.events.at(i).index); }
  std::string what(std::size_t i) const { return event_object_text(model, finding.events.at(i).index, names); }
  std::string act(std::size_t i) const { return who(i) + " " + does(i) + " " + what(i); }
};

std::string circle(const Words& w) {
  std::string text;
  const std::size_t count = w.finding.events.size();
  for (std::size_t i = 0; i < count; ++i) {
    text += (i ? ", " : "") + w.who(i) + " waits for " + w.what(i) + ", which " + w.who((i + 1) % count) + " holds";
  }
  return text + ": none of them can continue.";
}

std::string held_across_wait(const Words& w) {
  std::string text = w.who(0) + " waits for " + w.what(0) + " and holds " + w.what(1);
  for (std::size_t i = 1; i < w.finding.events.size(); ++i) text.append(", for which ").append(w.who(i) + " waits");
  return text + ": no thread is left that could wake it.";
}

std::string race(const Words& w) {
  return w.act(0) + " while " + w.who(1) + " " + w.does(1) + " it: nothing orders the two.";
}

std::string between(const Words& w) {
  return w.who(1) + " " + w.does(1) + " " + w.what(0) + " after " + w.who(0) + " " + w.does(0) + " it and before it " +
         w.does(2) + " it" + (w.finding.pattern == "R1-W2-W1" ? ": the value written in between is lost." : ".");
}

std::string two_variables(const Words& w) {
  std::string text = w.act(0);
  for (std::size_t i = 1; i < w.finding.events.size(); ++i) text.append(", then ").append(w.act(i));
  return text + ": the two belong together, and one thread sees them half updated.";
}

std::string use_after_free(const Words& w) { return w.act(0) + " before " + w.who(1) + " uses it."; }

std::string read_before_write(const Words& w) {
  return w.who(0) + " reads " + w.what(0) + " before any thread has written it.";
}

std::string lost_wakeup(const Words& w) {
  const std::size_t last = w.finding.events.size() - 1;
  return w.act(0) + " before " + w.who(last) + " waits for it: the wake-up is lost, and no other follows.";
}

std::string exit_before_write(const Words& w) {
  return w.who(0) + " ends the process before " + w.act(1) + ": it does not wait, and that work is lost.";
}

std::string use_after_end(const Words& w) {
  return w.who(0) + " ends before " + w.act(1) + ": that memory was its stack, which no longer exists.";
}

std::string double_free(const Words& w) { return w.act(0) + ", and " + w.who(1) + " releases it again."; }

std::string freed_by_both(const Words& w) {
  return w.who(0) + " and " + w.who(1) + " both read " + w.what(0) +
         " before either resets it: each releases the block that it points to.";
}

std::string null_use(const Words& w) {
  return w.who(0) + " writes null to " + w.what(0) + " before " + w.who(1) + " reads it, and " + w.who(1) +
         " follows it without a null check.";
}

// The sentence for a pattern that has no sentence of its own.
std::string before(const Words& w) { return w.act(0) + " before " + w.act(1) + "."; }

struct SentenceRow {
  FindingKind kind;
  const char* pattern;  // prefix of Finding::pattern; the first row that matches is used
  std::string (*make)(const Words&);
};
constexpr std::array<SentenceRow, 14> kSentences{{
    {FindingKind::kRace, "", race},
    {FindingKind::kDeadlock, "wait", held_across_wait},
    {FindingKind::kDeadlock, "", circle},
    {FindingKind::kAtomicity, "two variables", two_variables},
    {FindingKind::kAtomicity, "", between},
    {FindingKind::kOrder, "use-after-free", use_after_free},
    {FindingKind::kOrder, "read-before-write", read_before_write},
    {FindingKind::kOrder, "lost-wake-up", lost_wakeup},
    {FindingKind::kOrder, "exit-before-write", exit_before_write},
    {FindingKind::kOrder, "use-after-end", use_after_end},
    {FindingKind::kOrder, "double-free", double_free},
    {FindingKind::kOrder, "freed-by-both", freed_by_both},
    {FindingKind::kOrder, "null-use", null_use},
    {FindingKind::kOrder, "", before},
}};
static_assert(kSentences.back().make != nullptr);

}  // namespace

std::string thread_text(ThreadId thread, const Names& names) {
  const std::string name = names.thread ? names.thread(thread) : "";
  return name.empty() ? "thread " + std::to_string(thread) : name;
}

const char* verb_of(const TraceModel& model, EventIndex e) {
  if (model.is_access(e) && (model.flags[e] & kFrees) != 0) return "frees";
  switch (model.op[e]) {
    case Op::kRead:
      return "reads";
    case Op::kWrite:
      return "writes";
    case Op::kUpdate:
      return "updates";
    case Op::kWait:
      return "waits for";
    case Op::kNotify:
      return "notifies";
    case Op::kFree:
      return "releases";
    case Op::kExit:
    case Op::kEnd:
      return "ends";
    default:
      return "locks";
  }
}

std::string event_object_text(const TraceModel& model, EventIndex e, const Names& names) {
  const std::uint32_t object = model.object[e];
  if (model.is_access(e)) return object_text(model, model.variables[object], names);
  switch (model.op[e]) {
    case Op::kWait:
    case Op::kNotify: {
      const Signal& signal = model.signals[object];
      if (signal.thread == kNone) return object_text(model, signal.name, names);
      return std::string("the end of ").append(thread_text(static_cast<ThreadId>(signal.thread), names));
    }
    case Op::kFork:
    case Op::kJoin:
      return thread_text(static_cast<ThreadId>(object), names);
    case Op::kEnd:
      return thread_text(model.thread[e], names);
    case Op::kExit:
      return "the process";
    case Op::kFree: {
      const HeapBlock& block = model.blocks[object];
      return object_text(model, {block.address, 0, object}, names);
    }
    default:
      return object_text(model, model.locks[object], names);
  }
}

std::string explain(const TraceModel& model, const Finding& finding, const Names& names) {
  for (const SentenceRow& row : kSentences) {
    if (row.kind == finding.kind && finding.pattern.starts_with(row.pattern)) return row.make({model, finding, names});
  }
  return "";
}

}  // namespace reweave

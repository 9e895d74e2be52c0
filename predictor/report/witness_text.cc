// The witness in columns, one per thread it involves; left of them, how the order differs from the trace.
#include <algorithm>
#include <map>
#include <ostream>
#include <unordered_set>

#include "predictor/report/report.h"

namespace reweave {
namespace {

constexpr std::size_t kColumn = 30;

std::string short_text(const TraceModel& model, EventIndex e, const Names& names) {
  const auto variable = [&] { return object_text(model, model.variables[model.object[e]], names); };
  const auto lock = [&] { return object_text(model, model.locks[model.object[e]], names); };
  switch (model.op[e]) {
    case Op::kRead:
      return "read " + variable();
    case Op::kWrite:
      return ((model.flags[e] & kFrees) != 0 ? "free " : "write ") + variable();
    case Op::kUpdate:
      return "update " + variable();
    case Op::kAcquire:
      return "lock " + lock();
    case Op::kRelease:
      return "unlock " + lock();
    case Op::kAcquireShared:
      return "lock shared " + lock();
    case Op::kReleaseShared:
      return "unlock shared " + lock();
    case Op::kBranch:
      return "branch";
    case Op::kFork:
      return "start thread " + std::to_string(model.object[e]);
    case Op::kJoin:
      return "join thread " + std::to_string(model.object[e]);
    case Op::kBegin:
      return "begin";
    case Op::kEnd:
      return "end";
    case Op::kSync:
      return "synchronise";
    case Op::kRequest:
      return "wait for " + lock();
    case Op::kWait:
      return "wait for " + event_object_text(model, e, names);
    case Op::kNotify:
      return "notify " + event_object_text(model, e, names);
    case Op::kFree:
      return "release " + event_object_text(model, e, names);
    case Op::kExit:
      return "end the process";
  }
  return "?";
}

class WitnessText {
 public:
  WitnessText(std::ostream& out, const TraceModel& model, const Finding& c, const Names& names)
      : out_(out), model_(model), names_(names), events_(c.witness.events(model)) {
    for (const FindingEvent& e : c.events) {
      interesting_.insert(e.index);
      columns_.try_emplace(e.thread, columns_.size());
      if (model.is_access(e.index)) variables_.insert(e.object);
      for (std::uint32_t n = model.held[e.index]; n != 0; n = model.held_nodes[n].parent) {
        interesting_.insert(model.held_nodes[n].acquire);
      }
    }
  }

  void write(const OrderQuery& query, std::uint32_t context) {
    out_ << "  witness: " << events_.size() << " events; those that matter:\n";
    header();
    std::size_t skipped = 0;
    const auto shown = marks(context);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!shown[i]) {
        ++skipped;
        continue;
      }
      if (skipped > 0) out_ << "    ... " << skipped << (skipped == 1 ? " event\n" : " events\n");
      skipped = 0;
      row(events_[i], interesting_.contains(events_[i]) ? "*" : " ");
    }
    if (skipped > 0) out_ << "    ... " << skipped << (skipped == 1 ? " event\n" : " events\n");
    for (EventIndex e : query.stops) row(e, ">");  // what happens next
  }

 private:
  // Selects the events to show: the interesting ones, with `context` events before and after; and the last few accesses
  // of the finding's variables.
  std::vector<bool> marks(std::uint32_t context) const {
    std::vector<bool> shown(events_.size(), false);
    std::uint32_t accesses = 0;
    for (std::size_t i = events_.size(); i-- > 0;) {
      const EventIndex e = events_[i];
      const bool access = model_.is_access(e) && variables_.contains(model_.object[e]) && ++accesses <= 2 * context;
      if (access) shown[i] = true;
      if (!interesting_.contains(e)) continue;
      for (std::size_t j = i - std::min<std::size_t>(i, context); j <= i + context && j < events_.size(); ++j) {
        shown[j] = true;
      }
    }
    for (std::size_t i = events_.size() - std::min<std::size_t>(events_.size(), context); i < events_.size(); ++i) {
      shown[i] = true;
    }
    return shown;
  }

  void header() const {
    std::vector<std::string> titles(columns_.size());
    for (const auto& [thread, column] : columns_) {
      const std::string name = names_.thread ? names_.thread(thread) : "";
      titles[column] = name.empty() ? "thread " + std::to_string(thread) : name;
    }
    out_ << "      " << std::string(10, ' ');
    for (const std::string& title : titles)
      out_ << title << std::string(kColumn - std::min(kColumn - 1, title.size()), ' ');
    out_ << '\n';
  }

  void row(EventIndex e, const char* mark) const {
    const std::string number = std::to_string(e);
    out_ << "    " << mark << ' ' << number << std::string(10 - std::min<std::size_t>(9, number.size()), ' ');
    const auto column = columns_.find(model_.thread[e]);
    std::string text = short_text(model_, e, names_);
    if (column == columns_.end()) text = "(thread " + std::to_string(model_.thread[e]) + ": " + text + ")";
    const std::size_t indent = column == columns_.end() ? 0 : column->second * kColumn;
    out_ << std::string(indent, ' ') << text << '\n';
  }

  std::ostream& out_;
  const TraceModel& model_;
  const Names& names_;
  std::vector<EventIndex> events_;
  std::unordered_set<EventIndex> interesting_;
  std::unordered_set<std::uint32_t> variables_;
  std::map<ThreadId, std::size_t> columns_;
};

}  // namespace

void write_witness(std::ostream& out, const TraceModel& model, const Finding& finding, const Names& names,
                   const ReportOptions& options) {
  WitnessText(out, model, finding, names).write(finding.query, options.context);
}

}  // namespace reweave

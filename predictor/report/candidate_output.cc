#include "predictor/report/candidate_output.h"

#include <fmt/core.h>

#include <unordered_map>

#include "predictor/model/code_names.h"
#include "predictor/witness/witness_steps.h"

namespace reweave {
namespace {

CandidateKind kind_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace:
      return CandidateKind::kRace;
    case FindingKind::kDeadlock:
      return CandidateKind::kDeadlock;
    case FindingKind::kAtomicity:
      return CandidateKind::kAtomicity;
    case FindingKind::kOrder:
      break;
  }
  return CandidateKind::kOrderViolation;
}

// The trace event that an event of a finding comes from.
EventKind event_kind(const TraceModel& model, EventIndex e) {
  if (model.is_access(e) && (model.flags[e] & kFrees) != 0) return EventKind::kFree;
  switch (model.op[e]) {
    case Op::kRead:
      return model.is_atomic(e) ? EventKind::kAtomicLoad : EventKind::kRead;
    case Op::kWrite:
      return model.is_atomic(e) ? EventKind::kAtomicStore : EventKind::kWrite;
    case Op::kUpdate:
      return EventKind::kAtomicRmw;
    case Op::kRequest:
      return EventKind::kLockRequest;
    case Op::kWait:
      return model.signals[model.object[e]].thread == kNone ? EventKind::kWaitBegin : EventKind::kJoin;
    case Op::kNotify:
      return EventKind::kNotify;
    case Op::kFree:
      return EventKind::kFree;
    case Op::kEnd:
    case Op::kExit:
      return EventKind::kEnd;
    default:
      return EventKind::kLock;
  }
}

// Numbers the sites that occur in candidates.
class SiteTable {
 public:
  SiteTable(CodeNames* code, std::vector<CodeSite>& sites) : code_(code), sites_(sites) {}

  std::uint32_t number(std::uint32_t site) {
    auto [it, fresh] = numbers_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
    if (fresh) sites_.push_back(code_ ? code_->site(site) : CodeSite{"", "", site, "", 0, ""});
    return it->second;
  }

 private:
  CodeNames* code_;
  std::vector<CodeSite>& sites_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
};

CandidateEvent event_of(const TraceModel& model, EventIndex e, const Names& names, SiteTable& sites) {
  CandidateEvent result;
  result.thread = model.thread[e];
  result.index = model.source[e];
  result.kind = event_kind(model, e);
  result.site = sites.number(model.site[e]);
  result.address = model.address_of(e) & kAddressMask;
  result.object = event_object_text(model, e, names);
  for (const std::uint32_t call : shown_calls(model, model.stack[e], names)) result.stack.push_back(sites.number(call));
  for (std::uint32_t node = model.held[e]; node != 0; node = model.held_nodes[node].parent) {
    const EventIndex acquire = model.held_nodes[node].acquire;
    result.held.push_back(
        {event_object_text(model, acquire, names), sites.number(model.site[acquire]), model.is_shared(acquire)});
  }
  return result;
}

CandidateSet described(const TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                       const Names& names, SiteTable& sites) {
  CandidateSet set;
  set.trace = input.name();
  set.analysis = "predict";
  for (const Finding& finding : findings) {
    Candidate candidate;
    candidate.kind = kind_of(finding.kind);
    candidate.pattern = finding.pattern;
    candidate.summary = explain(model, finding, names);
    candidate.score = finding.score;
    candidate.count = finding.count;
    candidate.assumptions = assumptions_of(finding);
    candidate.remarks = finding.remarks;
    for (const FindingEvent& e : finding.events) candidate.events.push_back(event_of(model, e.index, names, sites));
    set.candidates.push_back(std::move(candidate));
  }
  return set;
}

}  // namespace

CandidateSet candidates_of(TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                           CodeNames* code, const Names& names) {
  std::vector<CodeSite> numbered;
  SiteTable sites(code, numbered);
  CandidateSet set = described(input, model, findings, names, sites);
  const WitnessSteps steps(input, model, findings);
  for (std::size_t i = 0; i < findings.size(); ++i) steps.fill(i, set.candidates[i]);
  set.sites = std::move(numbered);
  return set;
}

CandidateSet findings_of(const TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                         CodeNames* code, const Names& names) {
  std::vector<CodeSite> numbered;
  SiteTable sites(code, numbered);
  CandidateSet set = described(input, model, findings, names, sites);
  set.sites = std::move(numbered);
  return set;
}

CandidateSet reports_of(const TraceInput& input, std::span<const RaceReport> reports, CodeNames* code,
                        const Names& names) {
  CandidateSet set;
  set.trace = input.name();
  SiteTable sites(code, set.sites);
  for (const RaceReport& report : reports) {
    Candidate candidate;
    const std::uint64_t address = report.address & kAddressMask;
    std::string object = names.address ? names.address(address) : "";
    if (object.empty()) object = fmt::format("{:#x}", address);
    const auto event = [&](ThreadId thread, std::uint32_t site, bool writes, std::uint64_t index) {
      candidate.events.push_back(
          {thread, index, writes ? EventKind::kWrite : EventKind::kRead, sites.number(site), address, object, {}, {}});
    };
    event(report.first_thread, report.first_site, report.first_writes, 0);
    event(report.second_thread, report.second_site, report.second_writes, report.event);
    candidate.pattern = std::string(report.first_writes ? "W1-" : "R1-") + (report.second_writes ? "W2" : "R2");
    candidate.count = report.count;
    const auto place = [&](std::uint32_t site) {
      const std::string text = names.site ? names.site(site) : "";
      return text.empty() ? fmt::format("location {}", site) : text;
    };
    candidate.summary =
        fmt::format("thread {} {} {} at {}, thread {} {} it at {}: nothing orders the two here.", report.first_thread,
                    report.first_writes ? "writes" : "reads", object, place(report.first_site), report.second_thread,
                    report.second_writes ? "writes" : "reads", place(report.second_site));
    set.candidates.push_back(std::move(candidate));
  }
  return set;
}

}  // namespace reweave

#include "formats/trace/candidates.h"

#include <cmath>

#include "formats/base/message.h"
#include "formats/candidates.capnp.h"

namespace reweave {
namespace {

constexpr unsigned kKindCount = static_cast<unsigned>(EventKind::kKindCount);

std::uint32_t checked_site(std::uint32_t site, std::size_t site_count) {
  if (site >= site_count) throw Malformed("a site index out of its range");
  return site;
}

CodeSite site_of(schema::Site::Reader from) {
  return {string_of(from.getModule()),
          string_of(from.getBuildId()),
          from.getOffset(),
          string_of(from.getFile()),
          from.getLine(),
          string_of(from.getFunction())};
}

CandidateEvent event_of(schema::Event::Reader from, std::size_t site_count) {
  CandidateEvent event;
  event.thread = from.getThread();
  event.index = from.getIndex();
  event.kind = checked_enum<EventKind>(from.getKind(), kKindCount, "event kind");
  event.site = checked_site(from.getSite(), site_count);
  event.address = from.getAddress();
  event.object = string_of(from.getObject());
  for (const std::uint32_t site : checked_list(from.getStack())) event.stack.push_back(checked_site(site, site_count));
  for (const auto lock : checked_list(from.getHeld())) {
    event.held.push_back({string_of(lock.getObject()), checked_site(lock.getSite(), site_count), lock.getShared()});
  }
  return event;
}

WitnessStep step_of(schema::Step::Reader from) {
  return {from.getThread(), from.getIndex(), checked_enum<EventKind>(from.getKind(), kKindCount, "event kind"),
          from.getAddress(), from.getPc()};
}

Candidate candidate_of(schema::Candidate::Reader from, std::size_t site_count) {
  Candidate candidate;
  candidate.kind = checked_enum<CandidateKind>(from.getKind(), kCandidateKindCount, "candidate kind");
  for (const auto event : checked_list(from.getEvents())) candidate.events.push_back(event_of(event, site_count));
  for (const auto step : checked_list(from.getWitness())) candidate.witness.push_back(step_of(step));
  candidate.score = from.getScore();
  candidate.count = from.getCount();
  candidate.pattern = string_of(from.getPattern());
  candidate.summary = string_of(from.getSummary());
  for (const auto turn : checked_list(from.getBeginning()))
    candidate.beginning.push_back({turn.getThread(), turn.getPc(), turn.getArrivals()});
  for (const auto text : checked_list(from.getAssumptions())) candidate.assumptions.push_back(string_of(text));
  for (const auto text : checked_list(from.getRemarks())) candidate.remarks.push_back(string_of(text));
  return candidate;
}

void fill(schema::Site::Builder to, const CodeSite& from) {
  to.setModule(from.module);
  to.setBuildId(from.build_id);
  to.setOffset(from.offset);
  to.setFile(from.file);
  to.setLine(from.line);
  to.setFunction(from.function);
}

void fill(schema::Event::Builder to, const CandidateEvent& from) {
  to.setThread(from.thread);
  to.setIndex(from.index);
  to.setKind(static_cast<std::uint8_t>(from.kind));
  to.setSite(from.site);
  to.setAddress(from.address);
  to.setObject(from.object);
  auto stack = to.initStack(list_size(from.stack.size()));
  for (unsigned i = 0; i < stack.size(); ++i) stack.set(i, from.stack[i]);
  auto held = to.initHeld(list_size(from.held.size()));
  for (unsigned i = 0; i < held.size(); ++i) {
    held[i].setObject(from.held[i].object);
    held[i].setSite(from.held[i].site);
    held[i].setShared(from.held[i].shared);
  }
}

void fill(schema::Step::Builder to, const WitnessStep& from) {
  to.setThread(from.thread);
  to.setIndex(from.index);
  to.setKind(static_cast<std::uint8_t>(from.kind));
  to.setAddress(from.address);
  to.setPc(from.pc);
}

void fill(schema::Candidate::Builder to, const Candidate& from) {
  to.setKind(static_cast<std::uint8_t>(from.kind));
  auto events = to.initEvents(list_size(from.events.size()));
  for (unsigned i = 0; i < events.size(); ++i) fill(events[i], from.events[i]);
  auto witness = to.initWitness(list_size(from.witness.size()));
  for (unsigned i = 0; i < witness.size(); ++i) fill(witness[i], from.witness[i]);
  auto beginning = to.initBeginning(list_size(from.beginning.size()));
  for (unsigned i = 0; i < beginning.size(); ++i) {
    beginning[i].setThread(from.beginning[i].thread);
    beginning[i].setPc(from.beginning[i].pc);
    beginning[i].setArrivals(from.beginning[i].arrivals);
  }
  auto assumptions = to.initAssumptions(list_size(from.assumptions.size()));
  for (unsigned i = 0; i < assumptions.size(); ++i) assumptions.set(i, from.assumptions[i]);
  auto remarks = to.initRemarks(list_size(from.remarks.size()));
  for (unsigned i = 0; i < remarks.size(); ++i) remarks.set(i, from.remarks[i]);
  to.setScore(from.score);
  to.setCount(from.count);
  to.setPattern(from.pattern);
  to.setSummary(from.summary);
}

}  // namespace

const char* name_of(CandidateKind kind) {
  static constexpr const char* kNames[] = {"race", "deadlock", "atomicity violation", "order violation"};
  static_assert(std::size(kNames) == kCandidateKindCount);
  const auto index = static_cast<std::size_t>(kind);
  return index < kCandidateKindCount ? kNames[index] : "unknown";
}

bool worth_reading(double score) { return std::lround(score * 10) >= std::lround(kWorthReading * 10); }

std::vector<WitnessTurn> turns_of(std::span<const WitnessStep> steps) {
  std::vector<WitnessTurn> turns;
  for (std::size_t from = 0, to = 0; from < steps.size(); from = to) {
    const WitnessStep* last = nullptr;
    for (to = from; to < steps.size() && steps[to].thread == steps[from].thread; ++to)
      if (steps[to].kind != EventKind::kJoin) last = &steps[to];
    if (last == nullptr) continue;
    WitnessTurn turn = {last->thread, last->pc, 0};
    for (const WitnessStep* step = &steps[from]; step <= last; ++step) turn.arrivals += step->pc == last->pc ? 1 : 0;
    turns.push_back(turn);
  }
  return turns;
}

CandidateSet read_candidates(const std::string& path) {
  CandidateSet set;
  MessageFile(path, FileType::kCandidates).read<schema::Candidates>([&](schema::Candidates::Reader root) {
    set.trace = string_of(root.getTrace());
    set.analysis = string_of(root.getAnalysis());
    for (const auto site : checked_list(root.getSites())) set.sites.push_back(site_of(site));
    for (const auto candidate : checked_list(root.getCandidates()))
      set.candidates.push_back(candidate_of(candidate, set.sites.size()));
  });
  return set;
}

void write_candidates(OutputFile& output, const CandidateSet& set) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::Candidates>();
  root.setTrace(set.trace);
  root.setAnalysis(set.analysis);
  auto sites = root.initSites(list_size(set.sites.size()));
  for (unsigned i = 0; i < sites.size(); ++i) fill(sites[i], set.sites[i]);
  auto candidates = root.initCandidates(list_size(set.candidates.size()));
  for (unsigned i = 0; i < candidates.size(); ++i) fill(candidates[i], set.candidates[i]);
  write_message_file(output, FileType::kCandidates, message);
}

}  // namespace reweave

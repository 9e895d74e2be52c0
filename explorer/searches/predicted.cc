#include "explorer/searches/predicted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace reweave {

namespace {

constexpr std::size_t kMostLinearizations = 4;  // tried per witness

}  // namespace

std::optional<RunRequest> Predicted::next() {
  if (fresh_.empty() && retries_.empty()) take_more();
  while (!retries_.empty() || !fresh_.empty()) {
    std::deque<Trial>& queue = retries_.empty() ? fresh_ : retries_;
    Trial trial = std::move(queue.front());
    queue.pop_front();
    if (auto request = follow(std::move(trial))) return request;
  }
  if (!pairs_.empty()) return ask_pair();
  return {};
}

bool Predicted::is_urgent() const {
  if (taken_ == 0) return true;
  if (fresh_.empty()) return !retries_.empty();
  return worth_reading(fresh_.front().candidate.score);
}

void Predicted::take_more() {
  std::optional<CandidateSet> set = options_.feed->take();
  if (!set) return;
  for (Candidate& candidate : set->candidates) {
    Trial trial = {++taken_, std::move(candidate), {}, 0, {}, ""};
    trial.orders = {trial.candidate.witness};
    fresh_.push_back(std::move(trial));
  }
}

std::optional<RunRequest> Predicted::follow(Trial trial) {
  trial.turns = turns_along(trial.candidate, trial.orders[trial.at]);
  RunRequest request = witness_request(trial.turns);
  if (request.goal.size() > kGoalBytes) {
    give_up(trial, "its witness is too long");
    return {};
  }
  request.own_quiet = true;
  request.observe = true;
  request.source = fmt::format("candidate {} ({})", trial.number, name_of(trial.candidate.kind));
  asked_.push_back(Asked::kWitness);
  under_way_.push_back(std::move(trial));
  return request;
}

RunRequest Predicted::ask_pair() {
  RunRequest request;
  request.policy = "active";
  request.seed = seed_of_run(options_.seed, pairs_made_);
  request.depth = 1 + pairs_made_++ % 3;
  request.goal.resize(sizeof(ActivePair));
  std::memcpy(request.goal.data(), &pairs_.front(), sizeof(ActivePair));
  request.observe = true;
  request.source = "the places of a candidate";
  pairs_.pop_front();
  asked_.push_back(Asked::kPair);
  return request;
}

void Predicted::learn(const RunRequest&, const RunResult& result) {
  const Asked what = asked_.front();
  asked_.pop_front();
  if (what != Asked::kWitness) return;
  Trial trial = std::move(under_way_.front());
  under_way_.pop_front();
  judge(std::move(trial), result);
}

void Predicted::judge(Trial trial, const RunResult& result) {
  const bool followed = was_followed(result, trial.turns), first = trial.at == 0;
  if (first && !followed)
    trial.how = fmt::format("its witness could not be followed to the end ({})",
                            tell_departure(result, trial.turns, *options_.places));
  if (followed) trial.how += first ? "its witness was followed to the end" : "; another linearization of it was";
  if (!followed && !result.failed()) {
    if (first) trial.orders = linearizations(trial.candidate.witness, kMostLinearizations);
    if (++trial.at < trial.orders.size()) {
      retries_.push_back(std::move(trial));
      return;
    }
  }
  verdicts_.push_back({trial.number, trial.candidate.kind, followed, trial.how, describe_outcome(result),
                       result.failed(), result.outcome == wire::OutcomeKind::kLeftRecording});
  if (!result.failed()) add_pairs(trial.candidate);
}

void Predicted::give_up(const Trial& trial, const char* why) {
  verdicts_.push_back({trial.number, trial.candidate.kind, false, why, "was not made", false});
  add_pairs(trial.candidate);
}

// Adds the pairs of neighbouring events of the candidate, in both orders.
void Predicted::add_pairs(const Candidate& candidate) {
  std::vector<std::uint64_t> places;
  for (const CandidateEvent& event : candidate.events)
    for (const WitnessStep& step : candidate.witness)
      if (step.index == event.index) places.push_back(step.pc);
  for (std::size_t i = 0; i + 1 < places.size(); i++)
    for (const ActivePair& pair : {ActivePair{places[i], places[i + 1]}, ActivePair{places[i + 1], places[i]}})
      if (known_pairs_.insert({pair.first, pair.second}).second) pairs_.push_back(pair);
}

std::string Predicted::report() const {
  if (taken_ == 0) return "";
  const auto count = [this](auto is) { return std::ranges::count_if(verdicts_, is); };
  std::string text =
      fmt::format("{} of {} tried candidates were followed to the end, {} failed", count(&CandidateVerdict::followed),
                  verdicts_.size(), count(&CandidateVerdict::failed));
  if (const auto left = count([](const CandidateVerdict& v) { return v.followed && v.left; }); left > 0)
    text += fmt::format(", {} left the recording afterwards, so it is not known how {} would have ended", left,
                        left == 1 ? "it" : "they");
  return text;
}

}  // namespace reweave

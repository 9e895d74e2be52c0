#include "explorer/campaign/failure_json.h"

#include <nlohmann/json.hpp>

namespace reweave {

nlohmann::json failure_json(const KeptFailure& failure) {
  return {{"recording", failure.path},
          {"reproduced", failure.reproduced()},
          {"what", failure.what},
          {"functions", failure.functions},
          {"how", failure.how},
          {"run", failure.found_at},
          {"preemptions", failure.preemptions},
          {"runs_like_this", failure.count},
          {"minimal", failure.minimal},
          {"replays", failure.replays},
          {"verified", failure.verified},
          {"last_words", failure.last_words},
          {"cause", failure.cause},
          {"story", failure.story},
          {"ending", failure.ending},
          {"stacks", failure.stacks}};
}

KeptFailure failure_from_json(const nlohmann::json& from) {
  KeptFailure failure;
  from.at("recording").get_to(failure.path);
  from.at("what").get_to(failure.what);
  failure.functions = from.value("functions", "");  // hunts of earlier versions do not have it
  from.at("how").get_to(failure.how);
  from.at("run").get_to(failure.found_at);
  from.at("preemptions").get_to(failure.preemptions);
  from.at("runs_like_this").get_to(failure.count);
  from.at("minimal").get_to(failure.minimal);
  from.at("replays").get_to(failure.replays);
  from.at("verified").get_to(failure.verified);
  from.at("last_words").get_to(failure.last_words);
  from.at("cause").get_to(failure.cause);
  from.at("story").get_to(failure.story);
  from.at("ending").get_to(failure.ending);
  from.at("stacks").get_to(failure.stacks);
  return failure;
}

}  // namespace reweave

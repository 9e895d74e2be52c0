// The result of a campaign's unit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/campaign/found_failure.h"
#include "explorer/campaign/knowledge.h"

namespace reweave {

struct UnitResult {
  std::uint64_t unit = 0;
  bool partial = false;  // it was interrupted, or could not be searched
  std::uint64_t runs = 0, examined = 0;
  bool saw_accesses = false;
  bool gave_up = false;  // none of its first runs could be examined
  std::string problem;   // the error because of which it could not be searched; empty if it could
  std::string left_for;  // the most frequent reason why runs could not be examined
  std::vector<FoundFailure> failures;
  std::vector<FoundFailure> suspects;  // if there are none: CampaignResult::suspects
};

// The unit's time. It is not part of the result, because it differs when the unit is repeated.
struct UnitTime {
  double wall = 0, cpu = 0;  // seconds; user and system time of all its processes
  std::string host;
};

// A unit's file has the result in its first line, whose hash is in the file's name, and the time in its second.
std::string result_json(const UnitResult& result);
std::string time_json(const UnitTime& time);
// Throw BadInput, with `path` in the message.
UnitResult parse_result(const std::string& text, const std::string& path);
UnitTime parse_time(const std::string& text, const std::string& path);

std::string knowledge_json(const KnowledgeRecord& knowledge);
KnowledgeRecord parse_knowledge(const std::string& text, const std::string& path);

}  // namespace reweave

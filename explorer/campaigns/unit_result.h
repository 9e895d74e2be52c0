// What a unit of a campaign leaves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/found_failure.h"
#include "explorer/knowledge.h"

namespace reweave {

struct UnitResult {
  std::uint64_t unit = 0;
  bool partial = false;  // it was told to stop before its end
  std::uint64_t runs = 0, examined = 0;
  bool saw_accesses = false;
  bool gave_up = false;  // none of its first runs could be examined
  std::string problem;   // why it could not be searched, as exploring it says; empty if it could
  std::string left_for;  // the most frequent reason why runs could not be examined
  std::vector<FoundFailure> failures;
};

// How long it took, which is no part of the result: a unit that is made again has another.
struct UnitTime {
  double wall = 0, cpu = 0;  // seconds; user and system time of all its processes
  std::string host;
};

// A unit's file: the result in one line, by whose hash the file is named, and the time in a second one.
std::string result_json(const UnitResult& result);
std::string time_json(const UnitTime& time);
// Throw BadInput, with `path` in the message.
UnitResult parse_result(const std::string& text, const std::string& path);
UnitTime parse_time(const std::string& text, const std::string& path);

std::string knowledge_json(const KnowledgeRecord& knowledge);
KnowledgeRecord parse_knowledge(const std::string& text, const std::string& path);

}  // namespace reweave

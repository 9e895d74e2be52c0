// A remedy in words, from its JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "explorer/explain/explanation.h"

namespace reweave {

// The advice as the JSON's member `advice` names it.
std::string_view name_of(Advice advice);
// Returns the advice, beginning with a verb: "hold one lock over deposit (bank.c:23-27) and around other uses of
// balance".
std::string remedy_sentence(const nlohmann::json& remedy);
// Returns the rates of schedules that begin like the failing one, with and without the remedy. Continues a sentence:
// "; of schedules ...". Empty if random schedules were enough to tell.
std::string near_words(const nlohmann::json& remedy);

}  // namespace reweave

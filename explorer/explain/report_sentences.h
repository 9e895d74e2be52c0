// The sentences of a report, made a second time: from its JSON, to be compared with what it says.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reweave {

// "deposit (bank.c:27)", from function, file and line.
std::string place_sentence(const nlohmann::json& step);
// "thread 2 writes balance in deposit (bank.c:27)".
std::string step_sentence(const nlohmann::json& step);
std::string cause_sentences(const nlohmann::json& report);
std::string remedy_sentence(const nlohmann::json& remedy);

}  // namespace reweave

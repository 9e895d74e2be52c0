// The sentences of a report, from its JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reweave {

// "deposit (bank.c:27)", from function, file and line.
std::string place_sentence(const nlohmann::json& step);
// The step's place and, if it names one, its caller: "add (pool.cc:8), called by main (pool.cc:40)".
std::string step_place(const nlohmann::json& step);
// The step's object; "it" if it has none.
std::string object_of(const nlohmann::json& step);
// "writes balance in deposit (bank.c:27)".
std::string operation_sentence(const nlohmann::json& step);
// "thread 2 writes balance in deposit (bank.c:27)".
std::string step_sentence(const nlohmann::json& step);
// "thread 2 writes balance in deposit (bank.c:27) before thread 1 reads it in audit (bank.c:33)".
std::string order_sentence(const nlohmann::json& first, const nlohmann::json& then);
// "3 of 20"; "not feasible" if none was tried.
std::string share_sentence(const nlohmann::json& rate);
// The cause in one sentence, with the experiments that show it. If none was shown, the order that the failing schedule
// needs ("this schedule fails only if ..."); empty if there is none.
std::string cause_sentences(const nlohmann::json& report);

// The cause, and the smallest remedy tried if it prevented the failure; all lines but the first are indented. Empty if
// no cause was shown.
std::string cause_with_remedy(const nlohmann::json& report);

}  // namespace reweave

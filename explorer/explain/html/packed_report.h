// The report in the form that a page contains: schedules are columns of numbers, so that each of 10,000 steps takes
// about ten bytes.
#pragma once

#include <nlohmann/json.hpp>

namespace reweave {

// The report with all texts in a form that can be shown (markup.h).
nlohmann::json shown_report(const nlohmann::json& report);

// The same report with at most `most` steps of each schedule, those around the cause. docs/explanation-format.md
// describes the form. `report`: from shown_report().
nlohmann::json packed_report(const nlohmann::json& report, std::size_t most);

// The content of <script type="application/json">, in which nothing ends the element.
std::string data_block(const nlohmann::json& report);

}  // namespace reweave

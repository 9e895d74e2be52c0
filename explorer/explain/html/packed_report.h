// The report as a page holds it: the schedules in columns of numbers, so that 10,000 steps are some ten bytes each.
#pragma once

#include <nlohmann/json.hpp>

namespace reweave {

// All texts of the report as they can be shown (markup.h).
nlohmann::json shown_report(const nlohmann::json& report);

// The same report, at most `most` steps of each schedule: those around the cause. docs/explanation-format.md has the
// form. `report`: as shown_report gives it.
nlohmann::json packed_report(const nlohmann::json& report, std::size_t most);

// As the content of <script type="application/json">: nothing in it ends the element.
std::string data_block(const nlohmann::json& report);

}  // namespace reweave

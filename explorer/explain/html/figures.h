// Figures of a report in words, and as small drawings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/html/markup.h"

namespace reweave {

double share_of(const nlohmann::json& rate);
// "3 of 20".
std::string count_text(const nlohmann::json& rate);
// "1 % to 38 %".
std::string interval_text(const nlohmann::json& rate);
// The interval and the share in it, from 0 to 100 %.
Html interval_drawing(const nlohmann::json& rate);

// "thread 1", with the colour of its lane.
Html thread_chip(const nlohmann::json& step);
// "deposit (bank.c:27)".
Html place_text(const nlohmann::json& step);
// The thread, what it does where, and the line of source.
Html step_line(const nlohmann::json& step);

// <section id><h2>title</h2>content</section>; nothing if there is no content.
Html section(std::string_view id, std::string_view title, const Html& content);

}  // namespace reweave

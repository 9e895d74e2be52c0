// Traces for tests, written in the STD format (formats/text/std_format.h).
#pragma once

#include <sstream>
#include <string>

#include "formats/text/std_format.h"
#include "predictor/model/trace_builder.h"

namespace reweave::testing {

// Returns the model of a trace in a shorter notation: a line "T1 acq(l)" means "T1|acq(l)|<line number>". Newlines or
// semicolons separate lines, and the first line has number 1.
inline TraceModel std_model(const std::string& short_text, bool collapse = false) {
  std::string text = short_text, full;
  for (char& c : text) {
    if (c == ';') c = '\n';
  }
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line);) {
    const auto start = line.find_first_not_of(' ');
    if (start == std::string::npos) continue;
    line = line.substr(start, line.find_last_not_of(' ') + 1 - start);
    line[line.find(' ')] = '|';
    full += line + "|" + std::to_string(number++) + "\n";
  }
  StdNames names;
  TraceBuilder builder(TraceBuilder::Options{collapse});
  std::istringstream in(full);
  read_std(in, names, [&](const TraceEvent& e, std::uint32_t site) { builder.add(e, site); });
  return builder.finish();
}

}  // namespace reweave::testing

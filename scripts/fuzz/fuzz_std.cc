// Fuzzes the reading of STD text; what was read is written and must come back the same.
#include <sstream>
#include <stdexcept>
#include <vector>

#include "formats/text/std_format.h"

namespace reweave {
namespace {

struct Read {
  StdNames names;
  std::vector<TraceEvent> events;
  std::vector<std::uint32_t> sites;
};

void read_all(const std::string& text, Read& result) {
  std::istringstream in(text);
  read_std(in, result.names, [&](const TraceEvent& event, std::uint32_t site) {
    result.events.push_back(event);
    result.sites.push_back(site);
  });
}

std::string written(const Read& read) {
  std::ostringstream out;
  for (std::size_t i = 0; i < read.events.size(); ++i) {
    if (!write_std(out, read.events[i], read.sites[i], {StdDialect::kFull, &read.names})) {
      throw std::logic_error("an event that was read cannot be written");
    }
  }
  return out.str();
}

}  // namespace
}  // namespace reweave

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reweave;
  Read first, second;
  try {
    read_all(std::string(reinterpret_cast<const char*>(data), size), first);
  } catch (const StdFormatError&) {
    return 0;
  }
  const std::string text = written(first);
  read_all(text, second);
  if (written(second) != text) throw std::logic_error("written text reads differently");
  return 0;
}

#include "formats/base/sarif.h"

#include <nlohmann/json.hpp>

namespace reweave {

using nlohmann::json;

json sarif_log(const json& rules, const json& results) {
  const json driver{{"name", "Reweave"}, {"version", REWEAVE_VERSION}, {"rules", rules}};
  const json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", json::array({run})}};
}

}  // namespace reweave

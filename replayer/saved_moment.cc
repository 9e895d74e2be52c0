#include "replayer/saved_moment.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/base/folder.h"

namespace reweave {

using nlohmann::json;

SavedMoment read_moment(const std::string& recording) {
  const Folder folder = Folder::open(recording);
  REQUIRE(folder.has(kExplanationFile),
          "no explanation was saved for {0}: `reweave explain --save {0}` finds the moment", recording);
  constexpr std::size_t kMostBytes = 64 << 20;
  const json report = json::parse(read_whole(folder, kExplanationFile, kMostBytes), nullptr, false);
  const json step = report.is_object() ? report.value("inevitable_step", json()) : json();
  const bool is_whole = report.is_object() && !report.value("curve", json::array()).empty();
  REQUIRE(is_whole,
          "the explanation saved for {0} does not have the moment after which every run fails: `reweave explain --save "
          "{0}`",
          recording);
  REQUIRE(!step.is_null(), "the explanation of {} has no moment after which every run fails", recording);
  const auto number = [&](const char* member) -> std::uint64_t {
    const json value = step.is_object() ? step.value(member, json()) : json();
    REQUIRE(value.is_number_unsigned(), "{}/{} is damaged: the moment has no '{}'", recording, kExplanationFile,
            member);
    return value.get<std::uint64_t>();
  };
  const bool apart = folder.has(kExplainedRun);
  return {apart ? folder.path_of(kExplainedRun) : recording,
          fmt::format("{}:{:#x}:{}", number("thread"), number("address"), number("number"))};
}

}  // namespace reweave

#include "formats/base/shard.h"

#include "formats/base/error.h"
#include "formats/base/number_check.h"

namespace reweave {

Shard parse_shard(const std::string& text, std::uint64_t most) {
  const std::size_t slash = text.find('/');
  const std::string number = text.substr(0, slash), count = slash == text.npos ? "" : text.substr(slash + 1);
  REQUIRE(whole_number(1, most)(count).empty() && whole_number(1, std::stoull(count))(number).empty(),
          "'{}' is not a shard such as 2/4", text);
  return {std::stoull(number) - 1, std::stoull(count)};
}

}  // namespace reweave

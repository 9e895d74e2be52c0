// Reads members of untrusted JSON. Throws BadInput with the name of the file unless a member has the requested type and
// range.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "formats/base/error.h"

namespace reweave {

class JsonFields {
 public:
  // `path` names the file in messages. Both outlive this.
  JsonFields(const nlohmann::json& object, const std::string& path) : object_(object), path_(path) {
    REQUIRE(object.is_object(), "{} is damaged: an object is missing", path);
  }

  std::uint64_t number(const char* name, std::uint64_t most = UINT64_MAX) const {
    return number_of(at(name), path_, name, most);
  }
  bool flag(const char* name) const {
    REQUIRE(at(name).is_boolean(), "{} is damaged: '{}' is neither true nor false", path_, name);
    return at(name).get<bool>();
  }
  std::string text(const char* name, std::size_t most = 1 << 20) const {
    REQUIRE(at(name).is_string(), "{} is damaged: '{}' is not a text", path_, name);
    std::string text = at(name).get<std::string>();
    REQUIRE(text.size() <= most, "{} is damaged: '{}' is too long", path_, name);
    return text;
  }
  const nlohmann::json& list(const char* name, std::size_t most) const {
    REQUIRE(at(name).is_array() && at(name).size() <= most, "{} is damaged: '{}' is not a list of at most {} items",
            path_, name, most);
    return at(name);
  }
  const nlohmann::json& at(const char* name) const {
    const auto found = object_.find(name);
    REQUIRE(found != object_.end(), "{} is damaged: it has no '{}'", path_, name);
    return *found;
  }

  static std::uint64_t number_of(const nlohmann::json& value, const std::string& path, const char* name,
                                 std::uint64_t most = UINT64_MAX) {
    REQUIRE(value.is_number_unsigned() && value.get<std::uint64_t>() <= most,
            "{} is damaged: '{}' is not a whole number up to {}", path, name, most);
    return value.get<std::uint64_t>();
  }

 private:
  const nlohmann::json& object_;
  const std::string& path_;
};

// Throws BadInput if the text is not JSON.
inline nlohmann::json parse_json(const std::string& text, const std::string& path) {
  nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
  REQUIRE(!whole.is_discarded(), "{} is damaged: it is not JSON", path);
  return whole;
}

}  // namespace reweave

#include "recorder/supervisor/record/hidden_environment.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "formats/base/counted.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

// The last one is for values that are given to replays (kGiven).
constexpr const char* kUsual[] = {"*TOKEN*",      "*SECRET*",      "*PASSWORD*", "*PASSWD*",     "*PASSPHRASE*",
                                  "*CREDENTIAL*", "*_KEY",         "*APIKEY*",   "*API_KEY*",    "*_PAT",
                                  "*_PWD",        "*PRIVATE_KEY*", "*_DSN",      "*ACCESS_KEY*", "REWEAVE_ENV_*"};
constexpr char kMask = '*';
constexpr const char* kGiven = "REWEAVE_ENV_";

bool matches(const std::string& pattern, const std::string& text, int flags) {
  return fnmatch(pattern.c_str(), text.c_str(), flags) == 0;
}

// Name and value; an entry without "=" has no value.
std::pair<std::string, std::string> split(const std::string& entry) {
  const std::size_t equals = entry.find('=');
  return equals == entry.npos ? std::pair(entry, std::string())
                              : std::pair(entry.substr(0, equals), entry.substr(equals + 1));
}

bool is_hidden(const std::string& value) { return !value.empty() && value.find_first_not_of(kMask) == value.npos; }

}  // namespace

HiddenEnvironment::HiddenEnvironment(const std::vector<std::string>& hide, std::vector<std::string> keep)
    : hide_(hide), keep_(std::move(keep)) {
  if (std::erase(hide_, std::string()) == 0) hide_.insert(hide_.end(), std::begin(kUsual), std::end(kUsual));
}

bool HiddenEnvironment::hides(const std::string& name, const std::string& value) const {
  const auto is_named = [&](const std::string& pattern) { return matches(pattern, name, FNM_CASEFOLD); };
  if (std::ranges::any_of(keep_, is_named)) return false;
  return std::ranges::any_of(hide_, [&](const std::string& rule) {
    const auto [names, values] = split(rule);
    return matches(names, name, FNM_CASEFOLD) && (rule.size() == names.size() || matches(values, value, 0));
  });
}

std::vector<std::string> HiddenEnvironment::apply(std::vector<std::string> environment) const {
  for (std::string& entry : environment) {
    const auto [name, value] = split(entry);
    if (!value.empty() && hides(name, value)) entry = name + "=" + std::string(value.size(), kMask);
  }
  return environment;
}

std::vector<std::string> hidden_names(const std::vector<std::string>& environment) {
  std::vector<std::string> names;
  for (const std::string& entry : environment)
    if (const auto [name, value] = split(entry); is_hidden(value)) names.push_back(name);
  return names;
}

std::vector<std::string> with_given_values(std::vector<std::string> recorded) {
  for (std::string& entry : recorded) {
    const auto [name, value] = split(entry);
    const char* given = is_hidden(value) ? std::getenv((kGiven + name).c_str()) : nullptr;
    if (given == nullptr) continue;
    REQUIRE(std::strlen(given) == value.size(), "the value of {} has {} in the recording, but the given value has {}",
            name, counted(value.size(), "byte"), std::strlen(given));
    entry = name + "=" + given;
  }
  return recorded;
}

void give_value(const std::vector<std::string>& recorded, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  const std::vector<std::string> names = hidden_names(recorded);
  REQUIRE(std::ranges::count(names, name) != 0, "the recording hides no value of {}{}{}", name,
          names.empty() ? "" : "; it hides those of ", fmt::join(names, ", "));
  const char* own = name == given ? std::getenv(name.c_str()) : given.c_str() + name.size() + 1;
  REQUIRE(own != nullptr, "{} has no value here; give it as --env {}=VALUE", name, name);
  SYSCALL_CHECK(setenv((kGiven + name).c_str(), own, 1));
}

}  // namespace reweave

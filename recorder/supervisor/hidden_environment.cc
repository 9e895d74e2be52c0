#include "recorder/supervisor/hidden_environment.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

namespace reweave {

namespace {

constexpr const char* kUsual[] = {"*TOKEN*",      "*SECRET*",      "*PASSWORD*", "*PASSWD*",    "*PASSPHRASE*",
                                  "*CREDENTIAL*", "*_KEY",         "*APIKEY*",   "*API_KEY*",   "*_PAT",
                                  "*_PWD",        "*PRIVATE_KEY*", "*_DSN",      "*ACCESS_KEY*"};
constexpr char kMask = '*';

bool matches(const std::string& pattern, const std::string& text, int flags) {
  return fnmatch(pattern.c_str(), text.c_str(), flags) == 0;
}

// Name and value; an entry without "=" has no value.
std::pair<std::string, std::string> split(const std::string& entry) {
  const std::size_t equals = entry.find('=');
  return equals == entry.npos ? std::pair(entry, std::string())
                              : std::pair(entry.substr(0, equals), entry.substr(equals + 1));
}

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

std::string hidden_names(const std::vector<std::string>& environment) {
  std::string names;
  for (const std::string& entry : environment) {
    const auto [name, value] = split(entry);
    if (value.empty() || value.find_first_not_of(kMask) != value.npos) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace reweave

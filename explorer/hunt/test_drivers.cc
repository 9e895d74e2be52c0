#include "explorer/hunt/test_drivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "explorer/run/child.h"
#include "formats/base/error.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words with(Words words, std::initializer_list<const char*> more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json parsed(const std::string& text, const std::string& driver) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw BadInput(fmt::format("the list of tests from {} cannot be read: {}", driver, error.what()));
  }
}

// Removes a `reweave record ... --` that the build puts in front of each test.
Words without_recorder(const Words& command) {
  const bool recorded = command.size() > 2 && fs::path(command[0]).filename() == "reweave" && command[1] == "record";
  const auto separator = std::find(command.begin(), command.end(), "--");
  return recorded && separator != command.end() ? Words(separator + 1, command.end()) : command;
}

// Properties by which CTest judges or prepares a test in a way that a hunt does not.
constexpr std::pair<const char*, const char*> kCtestProblems[] = {
    {"DISABLED", "it is disabled"},
    {"WILL_FAIL", "it is expected to fail"},
    {"PASS_REGULAR_EXPRESSION", "CTest judges this test by its output; hunt the test's program with --expect-status"},
    {"FAIL_REGULAR_EXPRESSION", "CTest judges this test by its output; hunt the test's program with --expect-status"},
    {"ENVIRONMENT_MODIFICATION",
     "CTest changes this test's environment; hunt the test's program in the same environment"},
    {"FIXTURES_REQUIRED", "it needs files or servers of other tests; hunt its program when they exist"},
};

void apply_ctest_property(HuntTarget& target, const std::string& name, const json& value) {
  for (const auto& [property, problem] : kCtestProblems)
    if (name == property && value != false) target.problem = problem;
  if (name == "WORKING_DIRECTORY") value.get_to(target.working_directory);
  if (name == "SKIP_RETURN_CODE") target.expected = fmt::format("0,{}", value.get<int>());
  if (name != "ENVIRONMENT") return;
  for (const json& entry : value) {
    const auto variable = entry.get<std::string>();
    const std::size_t equals = std::min(variable.find('='), variable.size());
    target.environment.emplace_back(variable.substr(0, equals), variable.substr(std::min(equals + 1, variable.size())));
  }
}

std::vector<HuntTarget> ctest_tests(const Words& command) {
  std::vector<HuntTarget> targets;
  const json all = parsed(output_of({with(command, {"--show-only=json-v1"}), "", {}}), "ctest");
  for (const json& test : all.at("tests")) {
    HuntTarget target;
    test.at("name").get_to(target.name);
    if (test.contains("command"))
      target.command = without_recorder(test.at("command").get<Words>());
    else
      target.problem = "it is not built";
    if (test.contains("properties"))
      for (const json& property : test.at("properties"))
        apply_ctest_property(target, property.at("name").get<std::string>(), property.at("value"));
    targets.push_back(target);
  }
  return targets;
}

std::string meson_build_folder(const Words& command) {
  for (std::size_t i = 2; i < command.size(); i++) {
    if (command[i] == "-C" && i + 1 < command.size()) return command[i + 1];
    if (command[i].starts_with("-C") && command[i].size() > 2) return command[i].substr(2);
  }
  return ".";
}

// Names of the tests that the arguments select.
std::set<std::string> chosen_by_meson(const Words& command) {
  std::set<std::string> names;
  std::istringstream list(output_of({with(command, {"--list", "--no-rebuild"}), "", {}}));
  for (std::string line; std::getline(list, line);) {
    const std::size_t slash = line.find(" / ");
    names.insert(slash == line.npos ? line : line.substr(slash + 3));
  }
  return names;
}

std::vector<HuntTarget> meson_tests(const Words& command) {
  const std::string build = meson_build_folder(command);
  const std::set<std::string> chosen = chosen_by_meson(command);
  std::vector<HuntTarget> targets;
  for (const json& test : parsed(output_of({{command.front(), "introspect", "--tests", build}, "", {}}), "meson")) {
    HuntTarget target;
    test.at("name").get_to(target.name);
    if (!chosen.contains(target.name)) continue;
    test.at("cmd").get_to(target.command);
    target.working_directory = test.at("workdir").is_string() ? test.at("workdir").get<std::string>() : build;
    for (const auto& [name, value] : test.at("env").items())
      target.environment.emplace_back(name, value.get<std::string>());
    const auto protocol = test.value("protocol", "exitcode");
    if (protocol == "exitcode") target.expected = "0,77";  // 77: it was skipped
    if (protocol == "tap" || protocol == "rust")
      target.problem = "meson judges this test by its output; hunt the test's program";
    targets.push_back(target);
  }
  return targets;
}

// The number of words that start a pytest command: `pytest`, or `python3 -m pytest`. 0: it is another command.
std::size_t pytest_words(const Words& command) {
  const std::string program = fs::path(command.front()).filename().string();
  if (program == "pytest" || program == "py.test" || program == "pytest-3") return 1;
  const bool module =
      program.starts_with("python") && command.size() > 2 && command[1] == "-m" && command[2] == "pytest";
  return module ? 3 : 0;
}

// The folder to which the names of the tests are relative, from pytest's header: "rootdir: /x, configfile: y".
fs::path pytest_root(const Words& command) {
  constexpr std::string_view kLabel = "rootdir: ";
  std::istringstream text(output_of({with(command, {"--collect-only"}), "", {}}));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(kLabel)) continue;
    std::size_t end = line.size();
    for (const char* next : {", configfile: ", ", inifile: ", ", testpaths: "}) end = std::min(end, line.find(next));
    return line.substr(kLabel.size(), end - kLabel.size());
  }
  return fs::current_path();
}

// The words of the command without the tests, modules and folders that it selects.
Words pytest_options(const Words& command) {
  const auto begin = command.begin() + static_cast<std::ptrdiff_t>(pytest_words(command));
  Words options(command.begin(), begin);
  const auto is_place = [](const std::string& word) {
    return !word.starts_with('-') && (word.find("::") != word.npos || fs::exists(word));
  };
  std::copy_if(begin, command.end(), std::back_inserter(options),
               [&](const std::string& word) { return !is_place(word); });
  return options;
}

std::vector<HuntTarget> pytest_tests(const Words& command) {
  const Words options = pytest_options(command);
  const fs::path root = pytest_root(command);
  std::vector<HuntTarget> targets;
  std::istringstream list(output_of({with(command, {"--collect-only", "-q"}), "", {}}));
  for (std::string line; std::getline(list, line);) {
    const std::size_t colons = line.find("::");
    if (colons == line.npos) continue;
    const fs::path module = root / line.substr(0, colons);
    if (!fs::exists(module)) continue;  // it is not a test's name
    HuntTarget target;
    target.name = fs::proximate(module).string() + line.substr(colons);
    target.command = options;
    target.command.push_back(target.name);
    target.expected = "0,5";  // 5: no test was run
    targets.push_back(target);
  }
  return targets;
}

struct DriverRow {
  const char* name;
  bool (*is)(const Words& command);
  std::vector<HuntTarget> (*tests)(const Words& command);
};

constexpr DriverRow kDrivers[] = {
    {"ctest", [](const Words& command) { return fs::path(command[0]).filename() == "ctest"; }, ctest_tests},
    {"meson",
     [](const Words& command) {
       return fs::path(command[0]).filename() == "meson" && command.size() > 1 && command[1] == "test";
     },
     meson_tests},
    {"pytest", [](const Words& command) { return pytest_words(command) != 0; }, pytest_tests},
};

}  // namespace

std::optional<TestDriver> tests_of(const Words& command) {
  for (const DriverRow& row : kDrivers)
    if (row.is(command)) return TestDriver{row.name, row.tests(command)};
  return {};
}

}  // namespace reweave

#include "explorer/hunt/hunt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "explorer/doctor/elf_facts.h"
#include "explorer/hunt/reports.h"
#include "explorer/hunt/test_drivers.h"
#include "explorer/run/child.h"
#include "explorer/run/interruption.h"
#include "explorer/words/escaping.h"
#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/shard.h"
#include "formats/base/terminal.h"
#include "formats/recording/file_identity.h"
#include "formats/recording/test_framework.h"
#include "recorder/supervisor/target/program_check.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Makes a folder name of any text.
std::string as_name(const std::string& text) {
  constexpr std::size_t kLongest = 60;
  std::string name = text.substr(0, kLongest);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (std::isalnum(byte) == 0 && std::string_view("._-+").find(c) == std::string_view::npos))
      c = '_';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  return name;
}

// The part of the command that a folder or report is named after.
std::string program_name(const std::vector<std::string>& command) {
  return fs::path(command.front()).filename().string();
}

std::vector<std::string> with_case(std::vector<std::string> command, const std::string& test_case) {
  if (test_case.empty()) return command;
  const TestFramework* framework = framework_of(find_program(command.front()));
  REQUIRE(framework != nullptr,
          "--case: {} uses no known test framework ({}); give the program's own arguments instead", command.front(),
          known_frameworks());
  command.insert(command.begin() + 1, framework->filter + test_case);
  if (framework->list[0] != 0) {
    std::vector<std::string> listing = command;
    listing.emplace_back(framework->list);
    REQUIRE(output_of({listing, "", {}}).find("\n  ") != std::string::npos, "--case: {} has no test named {}",
            command.front(), test_case);
  }
  return command;
}

// Compares texts as they are after a round trip through JSON.
bool same_words(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::equal(a, b, {}, plain_text, plain_text);
}

bool same_target(const TargetHunt& a, const TargetHunt& b) {
  return plain_text(a.target.name) == plain_text(b.target.name) && same_words(a.target.command, b.target.command);
}

bool has_lines(const std::string& program) {
  const ElfFacts facts = facts_of(open_regular(program));
  return !facts.is_elf || facts.has_debug_information() || facts.names_debug_file();
}

// Determines the identity of a target's program, or why it cannot be hunted.
void identify(TargetHunt& hunt) {
  if (!hunt.target.problem.empty()) return;
  try {
    const std::string& name = hunt.target.command.front();
    const bool is_relative =
        name.find('/') != name.npos && !name.starts_with('/') && !hunt.target.working_directory.empty();
    const std::string program = find_program(is_relative ? hunt.target.working_directory + "/" + name : name);
    hunt.identity = identity_of(identify_file(program));
    hunt.has_lines = has_lines(program);
  } catch (const BadInput& error) {
    hunt.target.problem = error.what();
  }
}

}  // namespace

Hunt::Hunt(HuntOptions options, std::vector<std::string> command, Choice choice)
    : options_(std::move(options)), choice_(std::move(choice)), start_(TargetHunter::Clock::now()) {
  result_.command = std::move(command);
  result_.test_case = choice_.test_case;
  result_.shard = choice_.shard;
  std::optional<TestDriver> driver = tests_of(result_.command);
  if (driver) {
    REQUIRE(choice_.test_case.empty(),
            "--case works for a single program, but {} starts other programs; choose tests with the arguments of that "
            "command",
            driver->name);
    REQUIRE(!driver->tests.empty(), "{} has no tests", driver->name);
    result_.driver = driver->name;
  } else {
    HuntTarget only;
    only.command = with_case(result_.command, choice_.test_case);
    only.name = shell_command(only.command);
    find_program(only.command.front());
    driver.emplace().tests.push_back(only);
  }
  take_shard(driver->tests);
  for (HuntTarget& target : driver->tests) {
    TargetHunt hunt;
    hunt.target = std::move(target);
    identify(hunt);
    result_.targets.push_back(std::move(hunt));
  }
  name_folders();
}

// Leaves out the tests of other shards. If there are more shards than tests, several search the same test, each from
// other seeds.
void Hunt::take_shard(std::vector<HuntTarget>& tests) {
  if (choice_.shard.empty()) return;
  constexpr std::uint64_t kSeeds = 1000;  // more than a test has searches in one hunt
  Shard shard = parse_shard(choice_.shard, 10'000);
  if (shard.count > tests.size()) {
    options_.seed += shard.index / tests.size() * kSeeds;
    shard = {shard.index % tests.size(), tests.size()};
  }
  std::uint64_t number = 0;
  std::erase_if(tests, [&](const HuntTarget&) { return !shard.has(number++); });
}

// Gives each test of a driver a folder of its own.
void Hunt::name_folders() {
  if (result_.driver.empty()) return;
  std::set<std::string> taken = {kHuntFile, "junit.xml", "summary.md", "report.sarif", "quality.json"};
  for (TargetHunt& hunt : result_.targets) {
    const std::string name = as_name(hunt.target.name);
    hunt.folder = name;
    for (int number = 2; !taken.insert(hunt.folder).second; number++) hunt.folder = fmt::format("{}-{}", name, number);
  }
}

void Hunt::take_folder(const std::string& path) {
  if (!path.empty()) {
    const std::string problem = try_folder(path);
    REQUIRE(problem.empty(), "{} {}", path, problem);
    return;
  }
  constexpr int kMost = 10'000;
  for (int number = 1; !folder_ && number <= kMost; number++)
    try_folder(fmt::format("reweave-hunt-{}-{}", as_name(program_name(result_.command)), number));
  REQUIRE(folder_, "this folder has {} hunts of {} already; give another folder with -o", kMost,
          program_name(result_.command));
}

std::string Hunt::try_folder(const std::string& path) {
  const bool is_new = !fs::exists(fs::symlink_status(path));
  Folder folder = is_new ? Folder::create(path) : Folder::open(path);
  Fd lock(SYSCALL_CHECK(openat(folder.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "{}", path));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    SYSCALL_CHECK(errno == EWOULDBLOCK ? 0 : -1, "locking {}", path);
    return "is in use by another hunt; give another folder with -o";
  }
  if (!is_new) {
    if (!folder.has(kHuntFile)) return "exists already and is not the folder of a hunt; give another with -o";
    const std::string file = folder.path_of(kHuntFile);
    const std::string problem = try_to_go_on(parse_hunt(text_of(file), file));
    if (!problem.empty()) return problem;
    continues_ = true;
  }
  folder_.emplace(std::move(folder));
  lock_ = std::move(lock);
  return "";
}

// Takes over the results of an earlier hunt if it was for the same programs.
std::string Hunt::try_to_go_on(const HuntResult& before) {
  if (!same_words(before.command, result_.command) || plain_text(before.test_case) != plain_text(result_.test_case))
    return fmt::format("has the hunt of another command ({}); give another folder with -o",
                       one_line(shell_command(before.command)));
  if (before.shard != result_.shard) return "has the hunt of another shard; give another folder with -o";
  std::vector<TargetHunt> targets = result_.targets;
  for (TargetHunt& target : targets) {
    const auto known =
        std::ranges::find_if(before.targets, [&](const TargetHunt& other) { return same_target(other, target); });
    if (known == before.targets.end()) continue;
    if (known->identity != target.identity)
      return fmt::format("has the hunt of {} as it was before it changed; give another folder with -o",
                         one_line(target.target.name));
    const HuntTarget now = target.target;
    const std::string folder = target.folder;
    target = *known;
    target.target = now;
    target.folder = folder;
    target.unchanged_since.clear();
    target.earlier_runs = 0;
  }
  result_.targets = std::move(targets);
  return "";
}

void Hunt::with_hunter(TargetHunt& hunt, TargetHunter::Clock::time_point deadline,
                       const std::function<void(TargetHunter&)>& act) {
  if (!hunt.target.problem.empty()) {
    hunt.problem = hunt.target.problem;
    hunt.problem_status = kExitBadInput;
    return;
  }
  const std::string path = hunt.folder.empty() ? folder() : folder_->path_of(hunt.folder);
  if (!hunt.folder.empty() && !folder_->has(hunt.folder)) folder_->create_folder(hunt.folder);
  TargetHunter hunter(options_, hunt, fs::absolute(path).string(), deadline, [this] { write_reports(); });
  try {
    act(hunter);
  } catch (const Error& error) {
    hunt.problem = error.what();
    hunt.problem_status = error.exit_code();
    if (!result_.driver.empty()) return;
    write_reports();  // otherwise they would not mention the problem
    throw;
  }
}

TargetHunter::Clock::time_point Hunt::share_of_time(std::size_t targets_left) const {
  const auto all =
      std::chrono::duration_cast<TargetHunter::Clock::duration>(std::chrono::duration<double>(options_.seconds));
  const auto now = TargetHunter::Clock::now();
  const auto left = std::max(start_ + all - now, TargetHunter::Clock::duration::zero());
  return now + left / static_cast<std::int64_t>(targets_left);
}

// Records a passing run of each test that an earlier hunt searched, and compares what it depends on.
void Hunt::leave_out_unchanged() {
  std::vector<std::pair<std::string, HuntResult>> earlier;
  for (const std::string& path : choice_.since) {
    const std::string file = fs::is_directory(path) ? path + "/" + kHuntFile : path;
    if (fs::exists(file))
      earlier.emplace_back(file, parse_hunt(text_of(file), file));
    else
      notice("there is no {}: no test is left out for it", file);
  }
  for (std::size_t i = 0; i < result_.targets.size() && interruption() == 0; i++) {
    TargetHunt& hunt = result_.targets[i];
    if (hunt.has_passing) continue;  // from an earlier call, since when it may have changed
    for (const auto& [file, before] : earlier) {
      const auto known =
          std::ranges::find_if(before.targets, [&](const TargetHunt& other) { return same_target(other, hunt); });
      if (known == before.targets.end() || !known->is_clean() || known->inputs.empty()) continue;
      if (!hunt.has_passing) {
        bool is_ready = false;
        with_hunter(hunt, share_of_time(result_.targets.size() - i),
                    [&](TargetHunter& hunter) { is_ready = hunter.prepare(); });
        if (!is_ready) break;
      }
      if (hunt.inputs != known->inputs) continue;
      hunt.unchanged_since = file;
      hunt.earlier_runs = known->runs() + known->earlier_runs;
    }
  }
}

int Hunt::run() {
  leave_out_unchanged();
  std::vector<TargetHunt*> searched;
  for (TargetHunt& hunt : result_.targets)
    if (hunt.unchanged_since.empty()) searched.push_back(&hunt);
  for (std::size_t i = 0; i < searched.size() && interruption() == 0; i++) {
    with_hunter(*searched[i], share_of_time(searched.size() - i), &TargetHunter::run);
    write_reports();
  }
  result_.interrupted = interruption();
  write_reports();
  return status();
}

void Hunt::write_reports() const {
  folder_->replace_file("junit.xml", junit_report(result_, folder()));
  folder_->replace_file("report.sarif", sarif_report(result_, folder()));
  folder_->replace_file("quality.json", quality_report(result_, folder()));
  folder_->replace_file("summary.md", markdown_report(result_, folder()));
  folder_->replace_file(kHuntFile, hunt_json(result_, status()));
}

int Hunt::status() const {
  if (result_.interrupted != 0) return 128 + result_.interrupted;
  if (result_.found()) return kExitFailureFound;
  if (std::ranges::any_of(result_.targets, &TargetHunt::suspects)) return kExitSuspected;
  const bool is_examined = std::ranges::any_of(
      result_.targets, [](const TargetHunt& hunt) { return hunt.examined() > 0 || !hunt.unchanged_since.empty(); });
  if (is_examined) return 0;
  const TargetHunt& first = result_.targets.front();
  return result_.driver.empty() && first.problem_status != 0 ? first.problem_status : kExitNotExamined;
}

std::string Hunt::resume_command() const {
  std::vector<std::string> words = {"reweave", "hunt", "-o", folder()};
  if (!choice_.test_case.empty()) words.insert(words.end(), {"--case", choice_.test_case});
  if (!choice_.shard.empty()) words.insert(words.end(), {"--shard", choice_.shard});
  for (const std::string& path : choice_.since) words.insert(words.end(), {"--since", path});
  words.push_back("--");
  words.insert(words.end(), result_.command.begin(), result_.command.end());
  return shell_command(words);
}

}  // namespace reweave

#include "explorer/campaigns/campaign_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <functional>
#include <memory>

#include "formats/base/error.h"

namespace reweave {

namespace {

constexpr const char* kPlanFile = "campaign.json";
constexpr const char* kKinds[] = {"units", "partial", "knowledge", "rounds"};
constexpr std::uint64_t kShard = 1000;  // numbers in one folder
constexpr std::size_t kMostShardBytes = 64 << 20, kMostPlanBytes = 64 << 20, kMostNames = 1'000'000;
constexpr std::string_view kSuffix = ".json", kFreshPrefix = ".new-";
constexpr std::size_t kDigits = 8, kHashDigits = 16;

const char* folder_name(Published kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string shard_of(std::uint64_t number) { return fmt::format("{:05}", number / kShard); }
std::string hash_of(std::string_view line) { return fmt::format("{:016x}", XXH3_64bits(line.data(), line.size())); }

// The number at the start of a published file's name; nothing if the name does not have that form.
std::optional<std::uint64_t> published_number(std::string_view name) {
  if (name.size() < kDigits + 1 + kHashDigits + kSuffix.size() || !name.ends_with(kSuffix)) return {};
  const std::string_view digits = name.substr(0, name.size() - 1 - kHashDigits - kSuffix.size());
  const std::string_view hash = name.substr(digits.size() + 1, kHashDigits);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || name[digits.size()] != '-') return {};
  if (hash.find_first_not_of("0123456789abcdef") != hash.npos) return {};
  return number;
}

using EachName = std::function<void(const std::string&)>;

// Visits the names in a folder except . and ..; none if there is no such folder.
void for_each_name(const Folder& parent, const std::string& name, const EachName& each) {
  if (!parent.has(name)) return;
  const Folder folder = parent.open_folder(name);
  const int fd = SYSCALL_CHECK(::openat(folder.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "{}", folder.path());
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd), ::closedir);
  REQUIRE(entries != nullptr, "{} cannot be listed", folder.path());
  std::size_t seen = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string found = entry->d_name;
    if (found == "." || found == "..") continue;
    REQUIRE(++seen <= kMostNames, "{} holds more than {} names", folder.path(), kMostNames);
    each(found);
  }
}

// Opens the folder of that name, and creates it if it is missing.
Folder folder_in(const Folder& parent, const std::string& name) {
  const int made = ::mkdirat(parent.fd(), name.c_str(), 0700);
  SYSCALL_CHECK(made == 0 || errno == EEXIST ? 0 : -1, "{}", parent.path_of(name));
  return parent.open_folder(name);
}

std::string fresh_name() {
  std::uint64_t random = 0;
  SYSCALL_CHECK(::getrandom(&random, sizeof random, 0), "random numbers");
  return fmt::format("{}{:016x}", kFreshPrefix, random);
}

bool by_number(const CampaignFolder::Entry& a, const CampaignFolder::Entry& b) {
  return a.number != b.number ? a.number < b.number : a.name < b.name;
}

}  // namespace

std::string case_folder(std::uint64_t index) { return fmt::format("{:06}", index); }

CampaignFolder::CampaignFolder(const std::string& path) : folder_(Folder::open(path)) {
  REQUIRE(folder_.has(kPlanFile), "{} is not a campaign: it has no {}", path, kPlanFile);
  plan_ = parse_plan(read_whole(folder_, kPlanFile, kMostPlanBytes), folder_.path_of(kPlanFile));
}

CampaignFolder CampaignFolder::create(const std::string& path) {
  CampaignFolder campaign(Folder::create(path));
  for (const char* kind : kKinds) campaign.folder_.create_folder(kind);
  campaign.folder_.create_folder("cases");
  return campaign;
}

void CampaignFolder::write_plan(const CampaignPlan& plan) {
  folder_.replace_file(kPlanFile, plan_json(plan));
  plan_ = plan;
}

std::string CampaignFolder::recording(std::uint64_t case_index) const {
  return folder_.open_folder("cases").open_folder(case_folder(case_index)).path();
}

void CampaignFolder::publish(Published kind, std::uint64_t number, std::string_view line, std::string_view tail) const {
  CHECK(line.find('\n') == line.npos);
  const Folder shard = folder_in(folder_.open_folder(folder_name(kind)), shard_of(number));
  const std::string name = fmt::format("{:08}-{}{}", number, hash_of(line), kSuffix), fresh = fresh_name();
  REQUIRE(line.size() + tail.size() + 2 <= kMostShardBytes, "a file that has to be written is longer than {} bytes",
          kMostShardBytes);
  const Fd file = shard.create_file(fresh);
  try {
    write_fully(file.get(), fmt::format("{}\n{}{}", line, tail, tail.empty() ? "" : "\n"), shard.path_of(fresh));
    SYSCALL_CHECK(::fsync(file.get()), "{}", shard.path_of(fresh));
  } catch (...) {
    shard.remove(fresh);
    throw;
  }
  shard.rename(fresh, name);
}

std::vector<CampaignFolder::Entry> CampaignFolder::list(Published kind) const {
  std::vector<Entry> entries;
  const Folder folder = folder_.open_folder(folder_name(kind));
  for_each_name(folder_, folder_name(kind), [&](const std::string& shard) {
    if (shard.find_first_not_of("0123456789") != shard.npos) return;
    for_each_name(folder, shard, [&](const std::string& name) {
      const std::optional<std::uint64_t> number = published_number(name);
      if (number && shard_of(*number) == shard) entries.push_back({*number, name});
    });
  });
  std::ranges::sort(entries, by_number);
  return entries;
}

std::vector<CampaignFolder::Entry> CampaignFolder::list(Published kind, std::uint64_t number) const {
  std::vector<Entry> entries;
  for_each_name(folder_.open_folder(folder_name(kind)), shard_of(number), [&](const std::string& name) {
    if (published_number(name) == number) entries.push_back({number, name});
  });
  std::ranges::sort(entries, by_number);
  return entries;
}

CampaignFolder::Content CampaignFolder::read(Published kind, const Entry& entry) const {
  const Folder shard = folder_.open_folder(folder_name(kind)).open_folder(shard_of(entry.number));
  const std::string text = read_whole(shard, entry.name, kMostShardBytes);
  const std::size_t end = text.find('\n');
  const std::string path = shard.path_of(entry.name);
  REQUIRE(end != text.npos, "{} is damaged: it has no whole line", path);
  Content content = {text.substr(0, end), text.substr(end + 1), path};
  REQUIRE(entry.name.find("-" + hash_of(content.line) + std::string(kSuffix)) != entry.name.npos,
          "{} is damaged: its content does not match its name; remove it to make its unit again", path);
  return content;
}

std::optional<CampaignFolder::Content> CampaignFolder::read(Published kind, const std::vector<Entry>& entries) const {
  if (entries.empty()) return {};
  REQUIRE(entries.size() == 1,
          "{}/{}/{} and {} differ, though a unit always gives the same result: the program depends on time or on its "
          "machine. Remove one of them",
          folder_.path_of(folder_name(kind)), shard_of(entries[0].number), entries[0].name, entries[1].name);
  return read(kind, entries.front());
}

std::uint64_t CampaignFolder::remove_leftovers() const {
  constexpr std::time_t kOld = 3600;
  std::uint64_t removed = 0;
  for (const char* kind : kKinds) {
    const Folder folder = folder_.open_folder(kind);
    for_each_name(folder_, kind, [&](const std::string& shard) {
      if (shard.find_first_not_of("0123456789") != shard.npos) return;
      for_each_name(folder, shard, [&](const std::string& name) {
        struct stat status {};
        const Folder in = folder.open_folder(shard);
        if (!name.starts_with(kFreshPrefix) || ::fstatat(in.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
          return;
        if (S_ISREG(status.st_mode) && status.st_mtime + kOld < std::time(nullptr)) removed += in.remove(name) ? 1 : 0;
      });
    });
  }
  return removed;
}

}  // namespace reweave

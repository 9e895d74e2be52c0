#include "explorer/campaigns/merge_folder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "explorer/campaigns/merged_reports.h"
#include "explorer/words/github.h"
#include "formats/base/error.h"
#include "formats/base/exit_status.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMergedFolder = "merged";

// A new folder under a temporary name; removed with its content unless take_name() was called.
class FreshFolder {
 public:
  explicit FreshFolder(const std::string& name) : name_(name), path_(name + ".XXXXXX") {
    REQUIRE(::mkdtemp(path_.data()) != nullptr, "{}: {}", path_, std::strerror(errno));
  }
  ~FreshFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  const std::string& path() const { return path_; }

  // Renames the folder to its final name. Removes anything that had this name.
  void take_name() {
    if (fs::exists(fs::symlink_status(name_))) {
      const FreshFolder old(name_);
      fs::rename(name_, old.path() + "/old");
      fs::rename(path_, name_);
      return;
    }
    fs::rename(path_, name_);
  }

 private:
  std::string name_, path_;
};

void write_reports(const Merged& merged, const std::string& path, const std::string& shown) {
  const Folder folder = Folder::open(path);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_fully(folder.create_file(name).get(), text, folder.path_of(name));
  };
  write("failures.json", merged_json(merged));
  write("summary.md", merged_markdown(merged, shown));
  write("index.html", merged_html(merged));
  for (std::size_t i = 0; i < merged.cases.size(); i++)
    if (has_page(merged.cases[i])) write(case_page_name(i), case_html(merged.cases[i]));
}

void tell_github(const Merged& merged, const std::string& name) {
  append_github_summary(merged_markdown(merged, name));
  for (const MergedCause& cause : merged.causes) {
    const MergedCase& first = merged.cases[cause.places.front().case_index];
    const KeptFailure& failure = first.failures[cause.places.front().failure];
    fmt::print("{}", github_error(first.name, cause.what + "\n" + failure.story, "", 0));
  }
}

int status_of_merge(const Merged& merged) {
  if (merged.interrupted != 0) return 128 + merged.interrupted;
  if (!merged.causes.empty()) return kExitFailureFound;
  if (merged.suspects()) return kExitSuspected;
  return merged.is_examined() ? 0 : kExitNotExamined;
}

}  // namespace

int merge_into_folder(const CampaignFolder& campaign, const std::string& output, const MergeOptions& options,
                      const MergeOutput& told) {
  const std::string name = output.empty() ? campaign.folder().path_of(kMergedFolder) : output;
  REQUIRE(output.empty() || !fs::exists(fs::symlink_status(output)),
          "{} exists already: it is never overwritten, remove it or choose another name", output);
  if (told.github) require_github();
  FreshFolder fresh(fs::absolute(name).lexically_normal().string());
  const Merged merged = merge(campaign, fresh.path(), options);
  if (merged.interrupted == 0) {
    write_reports(merged, fresh.path(), name);
    fresh.take_name();
  }
  const std::string text = told.json ? merged_json(merged) : merged_text(merged, name);
  fmt::print("{}", told.github ? github_verbatim(text) : text);
  if (merged.interrupted != 0)
    fmt::print(stderr, "reweave: interrupted; {} is unchanged\n", name);
  else if (!told.json)
    fmt::print("kept in {}: index.html, summary.md, failures.json and the recordings\n", name);
  if (told.github) tell_github(merged, name);
  return status_of_merge(merged);
}

}  // namespace reweave

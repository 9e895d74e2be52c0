#include "explorer/campaigns/new_campaign.h"

#include <sys/random.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "explorer/campaigns/campaign_folder.h"
#include "formats/base/error.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "recorder/supervisor/record/recordings.h"
#include "replayer/pack.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// The names of all files that are stored in a recording.
std::set<std::string> stored_names(const Manifest& manifest) {
  std::set<std::string> names;
  for (const MappedFile& file : manifest.files) names.insert(file.stored_name);
  for (const DebugFile& file : manifest.debug_files) names.insert(file.stored_name);
  names.erase("");
  return names;
}

void copy_recording(RecordingReader& source, const std::string& path) {
  RecordingWriter writer(path, source.manifest());
  const std::set<std::string> names = stored_names(source.manifest());
  if (!names.empty()) {
    const Folder files = source.folder().open_folder("files");
    for (const std::string& name : names) writer.store_file(files.open_file(name), files.path_of(name));
  }
  while (const wire::RecordHeader* record = source.next()) writer.append(record);
  writer.finish(source.manifest());
}

// Replaces the files stored in our copy of a recording by links to the same files in `shared`, and links those missing
// there. Files are named by their content. Keeps the copies if the file system has no links.
void share_files(const std::string& recording, const Folder& shared) {
  const Folder files = Folder::open(recording).open_folder("files");
  for (const std::string& name : stored_names(read_manifest(Folder::open(recording)))) {
    if (!shared.has(name)) {
      if (::linkat(files.fd(), name.c_str(), shared.fd(), name.c_str(), 0) != 0) return;
      continue;
    }
    const std::string fresh = name + ".link";
    if (::linkat(shared.fd(), name.c_str(), files.fd(), fresh.c_str(), 0) != 0) return;
    files.rename(fresh, name);
  }
}

std::string name_of_case(const Manifest& manifest, const std::string& recording) {
  const std::string program = manifest.command_line.empty() ? "" : manifest.command_line.front();
  return fs::path(program).filename().string() + " " + fs::path(recording).filename().string();
}

std::string new_id() {
  std::uint64_t id = 0;
  SYSCALL_CHECK(::getrandom(&id, sizeof id, 0), "random numbers");
  return fmt::format("{:016x}", id);
}

}  // namespace

CampaignPlan new_campaign(const std::string& path, CampaignPlan plan, const std::vector<std::string>& recordings) {
  plan.id = new_id();
  for (const std::string& given : recordings) {
    const std::string recording = fs::absolute(recording_to_read(given)).lexically_normal().string();
    RecordingReader(recording).require_whole();  // check all before creating the folder
    plan.cases.push_back({recording, recording});
  }
  check_plan(plan);
  CampaignFolder campaign = CampaignFolder::create(path);
  for (const char* name : {"files", "logs"}) campaign.folder().create_folder(name);
  const Folder cases = campaign.folder().open_folder("cases"), shared = campaign.folder().open_folder("files");
  std::set<std::string> names;
  for (std::size_t i = 0; i < plan.cases.size(); i++) {
    CampaignCase& one = plan.cases[i];
    RecordingReader source(one.recording);
    source.require_whole();
    const std::string copy = cases.path_of(case_folder(i));
    copy_recording(source, copy);
    pack_recording(copy, false);
    share_files(copy, shared);
    const std::string name = name_of_case(source.manifest(), one.recording);
    one.name = name;
    for (int number = 2; !names.insert(one.name).second; number++) one.name = fmt::format("{} {}", name, number);
  }
  campaign.write_plan(plan);
  return plan;
}

}  // namespace reweave

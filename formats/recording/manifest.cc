#include "formats/recording/manifest.h"

#include <algorithm>

#include "formats/base/exit_status.h"
#include "formats/base/message.h"
#include "formats/recording.capnp.h"

namespace reweave {
namespace {

constexpr const char* kManifestFile = "manifest";
constexpr unsigned kOutcomeCount = 11;
// exit_status_of has a case for each outcome (-Wswitch), and none beyond.
static_assert(exit_status_of(static_cast<wire::OutcomeKind>(kOutcomeCount - 1)) != kExitInternal);
static_assert(exit_status_of(static_cast<wire::OutcomeKind>(kOutcomeCount)) == kExitInternal, "an outcome was added");
constexpr std::size_t kHashDigits = 16;

bool is_hex(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::vector<std::string> strings_of(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> strings;
  for (const auto text : checked_list(list)) strings.push_back(string_of(text));
  return strings;
}

void fill(capnp::List<capnp::Text>::Builder list, const std::vector<std::string>& strings) {
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, strings[i]);
}

void fill(schema::Process::Builder to, const ProcessInfo& from) {
  to.setIndex(from.index);
  to.setParent(from.parent);
  to.setPid(from.pid);
  to.setProgram(from.program);
  to.setWaitStatus(from.wait_status);
}

void fill(schema::MappedFile::Builder to, const MappedFile& from) {
  to.setPath(from.path);
  to.setSize(from.size);
  to.setCtimeNs(from.ctime_ns);
  to.setDevice(from.device);
  to.setInode(from.inode);
  to.setBuildId(from.build_id);
  to.setContentHash(from.content_hash);
  to.setStoredName(from.stored_name);
}

void fill(schema::DebugFile::Builder to, const DebugFile& from) {
  to.setBuildId(from.build_id);
  to.setStoredName(from.stored_name);
}

ProcessInfo process_of(schema::Process::Reader from, std::uint32_t place) {
  ProcessInfo process{from.getIndex(), from.getParent(), from.getPid(), string_of(from.getProgram()),
                      from.getWaitStatus()};
  if (process.index != place || process.parent > process.index) throw Malformed("process list out of order");
  return process;
}

// A stored name becomes part of a path, so it must be a hash.
void check_stored_name(const std::string& name) {
  if (name.size() != kHashDigits || !is_hex(name)) throw Malformed("the name of a stored file is not a hash");
}

void check_build_id(const std::string& build_id) {
  if (build_id.size() > kMaxBuildIdDigits || !is_hex(build_id)) throw Malformed("a build-id is not hexadecimal");
}

MappedFile file_of(schema::MappedFile::Reader from) {
  MappedFile file{string_of(from.getPath()),
                  from.getSize(),
                  from.getCtimeNs(),
                  from.getDevice(),
                  from.getInode(),
                  string_of(from.getBuildId()),
                  string_of(from.getContentHash()),
                  string_of(from.getStoredName())};
  if (!file.stored_name.empty()) check_stored_name(file.stored_name);
  if (!file.content_hash.empty() && (file.content_hash.size() != kHashDigits || !is_hex(file.content_hash)))
    throw Malformed("a content hash is not hexadecimal");
  check_build_id(file.build_id);
  return file;
}

DebugFile debug_file_of(schema::DebugFile::Reader from) {
  DebugFile file{string_of(from.getBuildId()), string_of(from.getStoredName())};
  check_stored_name(file.stored_name);
  check_build_id(file.build_id);
  return file;
}

void fill_lists(schema::Manifest::Builder to, const Manifest& from) {
  fill(to.initCommandLine(list_size(from.command_line.size())), from.command_line);
  fill(to.initEnvironment(list_size(from.environment.size())), from.environment);
  auto processes = to.initProcesses(list_size(from.processes.size()));
  for (unsigned i = 0; i < processes.size(); ++i) fill(processes[i], from.processes[i]);
  auto files = to.initFiles(list_size(from.files.size()));
  for (unsigned i = 0; i < files.size(); ++i) fill(files[i], from.files[i]);
  auto debug_files = to.initDebugFiles(list_size(from.debug_files.size()));
  for (unsigned i = 0; i < debug_files.size(); ++i) fill(debug_files[i], from.debug_files[i]);
}

void fill(schema::Manifest::Builder to, const Manifest& from) {
  to.setToolVersion(from.tool_version);
  to.setComplete(from.complete);
  to.setWorkingDirectory(from.working_directory);
  to.setStartTimeNs(from.start_time_ns);
  to.setHostKernel(from.host_kernel);
  to.setCpuModel(from.cpu_model);
  to.setSeed(from.seed);
  to.setChaos(from.chaos);
  to.setPolicy(from.policy);
  to.setChecksums(from.checksums);
  to.setHeapChecks(from.heap_checks);
  to.setHeapChecksFrom(from.heap_checks_from);
  to.setWaitStatus(from.wait_status);
  to.setOutcome(static_cast<std::uint32_t>(from.outcome));
  to.setOutcomeDetail(from.outcome_detail);
  to.setOutcomeText(from.outcome_text);
  to.setEventsTotal(from.events_total);
  to.setParent(from.parent);
  fill_lists(to, from);
}

Manifest manifest_of(schema::Manifest::Reader from) {
  Manifest manifest;
  manifest.tool_version = string_of(from.getToolVersion());
  manifest.complete = from.getComplete();
  manifest.command_line = strings_of(from.getCommandLine());
  manifest.environment = strings_of(from.getEnvironment());
  manifest.working_directory = string_of(from.getWorkingDirectory());
  manifest.start_time_ns = from.getStartTimeNs();
  manifest.host_kernel = string_of(from.getHostKernel());
  manifest.cpu_model = string_of(from.getCpuModel());
  manifest.seed = from.getSeed();
  manifest.chaos = from.getChaos();
  manifest.policy = string_of(from.getPolicy());
  manifest.checksums = from.getChecksums();
  manifest.heap_checks = from.getHeapChecks();
  manifest.heap_checks_from = from.getHeapChecksFrom();
  manifest.wait_status = from.getWaitStatus();
  manifest.outcome = checked_enum<wire::OutcomeKind>(from.getOutcome(), kOutcomeCount, "outcome");
  manifest.outcome_detail = from.getOutcomeDetail();
  manifest.outcome_text = string_of(from.getOutcomeText());
  manifest.events_total = from.getEventsTotal();
  manifest.parent = string_of(from.getParent());
  for (const auto process : checked_list(from.getProcesses()))
    manifest.processes.push_back(process_of(process, static_cast<std::uint32_t>(manifest.processes.size())));
  for (const auto file : checked_list(from.getFiles())) manifest.files.push_back(file_of(file));
  for (const auto file : checked_list(from.getDebugFiles())) manifest.debug_files.push_back(debug_file_of(file));
  return manifest;
}

}  // namespace

Manifest read_manifest(const Folder& recording) {
  Manifest manifest;
  MessageFile(recording.open_file(kManifestFile), recording.path_of(kManifestFile), FileType::kManifest)
      .read<schema::Manifest>([&](schema::Manifest::Reader root) { manifest = manifest_of(root); });
  return manifest;
}

void write_manifest(const Folder& recording, const Manifest& manifest) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<schema::Manifest>(), manifest);
  write_message_file(recording, kManifestFile, FileType::kManifest, message);
}

const char* name_of(wire::OutcomeKind outcome) {
  static constexpr const char* kNames[] = {"passed",   "exit status",  "signalled",    "deadlock",
                                           "hang",     "memory error", "check failed", "left recording",
                                           "diverged", "unsupported",  "truncated"};
  static_assert(std::size(kNames) == kOutcomeCount);
  const auto index = static_cast<std::size_t>(outcome);
  return index < kOutcomeCount ? kNames[index] : "unknown";
}

}  // namespace reweave

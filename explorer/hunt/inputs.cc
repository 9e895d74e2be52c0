#include "explorer/hunt/inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <xxhash.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "formats/base/error.h"
#include "formats/recording/call_names.h"
#include "formats/recording/file_identity.h"
#include "formats/recording/recording_reader.h"

namespace reweave {

namespace {

using Inode = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

// The flags that the call opened a file with. Nothing if it did not open one, or has its flags in memory.
std::optional<std::uint64_t> opening_flags(const wire::SyscallRecord& call) {
  switch (call.number) {
    case SYS_open:
      return call.args[1];
    case SYS_openat:
      return call.args[2];
    case SYS_creat:
    case SYS_memfd_create:
      return O_WRONLY | O_CREAT;
    default:
      return std::nullopt;
  }
}

// The loader's own files do not count: the libraries that they lead to do.
bool is_of_the_system(std::string_view path) {
  for (const char* start : {"/proc/", "/sys/", "/dev/", "/etc/ld.so."})
    if (path.starts_with(start)) return true;
  return false;
}

class Inputs {
 public:
  explicit Inputs(std::string folder) : folder_(std::move(folder)) {}

  void add(const MappedFile& file);
  void add(const wire::SyscallRecord& call);
  std::string hash() const;

 private:
  void add_opened(const std::string& path, const Inode& inode);

  const std::string folder_;
  std::map<std::string, std::string> found_;  // content by path
  std::set<Inode> known_;                     // files that need no more attention: found, or made by the programs
  bool are_known_ = true;
};

void Inputs::add(const MappedFile& file) {
  known_.insert({file.device, file.inode});
  if (!is_of_the_system(file.path)) found_[file.path] = identity_of(file);
}

void Inputs::add(const wire::SyscallRecord& call) {
  const std::optional<CallNames> names = names_in(call);
  if (call.result < 0 || !names || names->names.empty() || !S_ISREG(names->files.mode)) return;
  const Inode inode = {names->files.device, names->files.inode};
  const std::uint64_t flags = opening_flags(call).value_or(O_RDONLY);
  if ((flags & (O_CREAT | O_TRUNC)) != 0 && (flags & O_ACCMODE) != O_RDONLY) known_.insert(inode);
  if (known_.contains(inode)) return;
  const std::string name(names->names.front());
  const std::string path = name.starts_with('/') ? name : folder_ + "/" + name;
  if (!is_of_the_system(path)) add_opened(path, inode);
}

void Inputs::add_opened(const std::string& path, const Inode& inode) {
  struct stat status {};
  const bool is_same = stat(path.c_str(), &status) == 0 && Inode(status.st_dev, status.st_ino) == inode;
  are_known_ = are_known_ && is_same && !path.ends_with(".pyc");
  if (!are_known_) return;
  try {
    add(identify_file(path));
  } catch (const Error&) {
    are_known_ = false;  // it was removed, or may not be read by the user
  }
}

std::string Inputs::hash() const {
  if (!are_known_) return "";
  std::string all = REWEAVE_VERSION;
  for (const auto& [path, content] : found_) all += fmt::format("\n{}\n{}", path, content);
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

}  // namespace

std::string hash_of_inputs(const std::string& recording) {
  RecordingReader reader(recording);
  Inputs inputs(reader.manifest().working_directory);
  for (const MappedFile& file : reader.manifest().files) inputs.add(file);
  while (const wire::RecordHeader* record = reader.next())
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall))
      inputs.add(wire::record_cast<wire::SyscallRecord>(*record));
  return inputs.hash();
}

}  // namespace reweave

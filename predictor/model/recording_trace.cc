#include "predictor/model/recording_trace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "formats/base/error.h"
#include "formats/base/folder.h"
#include "formats/base/private_folder.h"
#include "formats/trace/trace_reader.h"

namespace reweave {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "trace.rwt";
constexpr const char* kUnfinished = "trace.rwt.new";

std::int64_t changed_at(const Fd& file) {
  struct stat status {};
  SYSCALL_CHECK(::fstat(file.get(), &status), "a file of the recording");
  return status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

// True if there is a complete trace, made by this version from the recording as it is now and at this path.
bool is_current(const Folder& folder, const std::string& recording) {
  if (!folder.has(kName)) return false;
  try {
    if (changed_at(folder.open_file(kName)) < changed_at(folder.open_file("events"))) return false;
    const TraceReader trace(folder.path_of(kName));
    const TraceHeader& header = trace.info().header;
    return trace.info().complete && header.tool_version == REWEAVE_VERSION &&
           header.source == fs::absolute(recording).string();
  } catch (const Error&) {  // the trace is made again
    return false;
  }
}

}  // namespace

RecordingTrace::RecordingTrace(const std::string& recording, const TraceMaker& maker,
                               const std::function<void(std::uint64_t)>& progress) {
  const Folder folder = Folder::open(recording);
  const std::string name = folder.path_of(kName);
  if (is_current(folder, recording)) {
    path_ = name;
    kept_ = true;
    return;
  }
  const bool writable = ::faccessat(folder.fd(), ".", W_OK, AT_EACCESS) == 0;
  if (writable) {
    folder.remove(kUnfinished);
    shortfall_ = maker.make(recording, folder.path_of(kUnfinished), progress);
    if (shortfall_.exit_status == 0) {
      folder.rename(kUnfinished, kName);
      path_ = name;
      kept_ = true;
      return;
    }
    nameless_ = folder.open_file(kUnfinished);
    folder.remove(kUnfinished);
  } else {
    const PrivateFolder temporary;
    shortfall_ = maker.make(recording, temporary.path() + "/" + kName, progress);
    nameless_ = Folder::open(temporary.path()).open_file(kName);
  }
  path_ = "/proc/self/fd/" + std::to_string(nameless_.get());
}

}  // namespace reweave

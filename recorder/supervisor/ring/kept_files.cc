#include "recorder/supervisor/ring/kept_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "formats/base/error.h"
#include "recorder/supervisor/process/proc_folder.h"

namespace reweave {

// The kernel sends this to the lease holder when other processes want to write. Its default action is to do nothing.
constexpr int kLeaseSignal = SIGURG;

void KeptFiles::answer() {
  if (arena_.keep_asked()) arena_.answer_keep(keep(arena_.header().keep));
}

std::uint16_t KeptFiles::keep(const KeepRequest& request) {
  for (std::size_t i = 0; i < files_.size(); i++)
    if (files_[i].fd.valid() && !files_[i].wanted && files_[i].device == request.device &&
        files_[i].inode == request.inode)
      return static_cast<std::uint16_t>(i + 1);
  if (files_.size() == kMaxKept) return kNotKept;
  const std::string path = fmt::format("{}/fd/{}", proc_folder(request.pid), request.fd);
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return kNotKept;
  if (status.st_dev != request.device || status.st_ino != request.inode) return kNotKept;
  if (files_.empty()) ArenaMemory::wake_at(kLeaseSignal);
  if (::fcntl(fd.get(), F_SETSIG, kLeaseSignal) != 0 || ::fcntl(fd.get(), F_SETLEASE, F_RDLCK) != 0) return kNotKept;
  files_.push_back({std::move(fd), request.device, request.inode, false});
  return static_cast<std::uint16_t>(files_.size());
}

bool KeptFiles::mark_wanted() {
  constexpr int kMostMs = 1000;  // a thread that was killed while logging never finishes
  bool any = false;
  for (std::size_t i = 0; i < files_.size(); i++) {
    Kept& file = files_[i];
    if (!file.fd.valid() || ::fcntl(file.fd.get(), F_GETLEASE) == F_RDLCK) continue;
    file.wanted = any = true;
    arena_.header().kept_changing[i].store(1);
  }
  for (int ms = 0; any && ms < kMostMs && arena_.header().logging_kept.load() != 0; ms++)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return any;
}

void KeptFiles::release() {
  for (Kept& file : files_)
    if (file.wanted) file.fd.reset();
}

const wire::RecordHeader* KeptFiles::resolve(const wire::RecordHeader* record, RecordingWriter& writer) {
  constexpr std::size_t kBytes = sizeof(wire::SyscallRecord) + sizeof(wire::OutputChunk) + sizeof(wire::KeptRange);
  CHECK(record->bytes == kBytes);
  record_.resize(kBytes / 8);
  std::memcpy(record_.data(), record, kBytes);
  auto* chunk = reinterpret_cast<wire::OutputChunk*>(reinterpret_cast<wire::SyscallRecord*>(record_.data()) + 1);
  wire::KeptRange range;
  std::memcpy(&range, chunk + 1, sizeof range);
  const wire::StoredApart stored = store(range, chunk->bytes, writer);
  std::memcpy(chunk + 1, &stored, sizeof stored);
  return reinterpret_cast<const wire::RecordHeader*>(record_.data());
}

wire::StoredApart KeptFiles::store(const wire::KeptRange& range, std::uint64_t bytes, RecordingWriter& writer) {
  CHECK(range.file < files_.size() && files_[range.file].fd.valid() && bytes <= kOutRingBytes);
  const auto [place, is_new] = stored_.try_emplace({range.file, range.offset, bytes});
  if (!is_new) return place->second;
  data_.resize(bytes);
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(files_[range.file].fd.get(), data_.data() + done, bytes - done,
                              static_cast<off_t>(range.offset + done));
    if (n < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(n, "reading again what the program read from inode {}", files_[range.file].inode);
    CHECK(n > 0, "a file became shorter under a lease");
    done += static_cast<std::uint64_t>(n);
  }
  return place->second = writer.store_apart(data_.data(), bytes);
}

}  // namespace reweave

#include "recorder/supervisor/ring/unsaved.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "formats/base/error.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "recorder/arena.h"
#include "recorder/supervisor/ring/manifest_notes.h"

namespace reweave {

namespace {

constexpr std::uint64_t kFileBytes = kRingPage + kOutRingBytes;
constexpr std::chrono::seconds kForProgramToEnd{20};

constexpr char kUnsaved[] = "unsaved";

// The beginning of the file (ArenaHeader).
struct RingPage {
  Channel out;
  RingMarks ring;
};
static_assert(offsetof(RingPage, ring) == offsetof(ArenaHeader, ring) - offsetof(ArenaHeader, out));

// True for errors that mean that the file system does not support this or has no room. The ring is then memory.
bool is_lacking(int error) {
  constexpr int kLacking[] = {EOPNOTSUPP, ENOSPC, EDQUOT, EFBIG, ENODEV, ENOSYS, ENOLCK, EINVAL};
  return std::ranges::find(kLacking, error) != std::end(kLacking);
}

bool can_be_mapped(int fd) {
  void* page = ::mmap(nullptr, kRingPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return false;
  ::munmap(page, kRingPage);
  return true;
}

// Writes the beginning of the file. Faults of pages that were written before cost almost nothing, but ext4 takes 38 us
// for a fault in space that is only reserved. A program whose recorder keeps up uses only this part of the ring
// (core/log/log.cc).
bool prepare_beginning(int fd) {
  static constexpr char kZeros[64 << 10] = {};
  constexpr std::uint64_t kBytes = kRingPage + (1 << 20);
  for (std::uint64_t at = 0; at < kBytes;) {
    const ssize_t n = ::pwrite(fd, kZeros, std::min(kBytes - at, sizeof kZeros), static_cast<off_t>(at));
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) at += static_cast<std::uint64_t>(n);
  }
  return true;
}

// Locks out save_rest with two locks: the one by fcntl ends with the recorder, the one by flock with the last process
// that has the descriptor.
bool hold(int fd) {
  struct flock own = {};
  own.l_type = F_WRLCK;
  return ::fcntl(fd, F_SETLK, &own) == 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
}

bool recorder_lives(int fd) {
  struct flock own = {};
  own.l_type = F_WRLCK;
  SYSCALL_CHECK(::fcntl(fd, F_GETLK, &own), "asking for the recorder's lock");
  return own.l_type != F_UNLCK;
}

bool wait_for_program(int fd) {
  const auto limit = std::chrono::steady_clock::now() + kForProgramToEnd;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) SYSCALL_CHECK(-1, "locking the files that a killed recorder left");
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

void read_at(int fd, void* to, std::uint64_t bytes, std::uint64_t offset, const std::string& path) {
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(n, "{}", path);
    REQUIRE(n > 0, "{}: shorter than the ring", path);
    done += static_cast<std::uint64_t>(n);
  }
}

// The records that were published but not saved.
struct Rest {
  SavedMark from;
  std::uint64_t taken = 0;  // bytes of the ring that the recorder had processed
  std::vector<std::uint64_t> words;
};

Rest read_rest(int fd, const std::string& path) {
  alignas(RingPage) std::byte bytes[sizeof(RingPage)];
  read_at(fd, bytes, sizeof bytes, 0, path);
  const auto& page = *reinterpret_cast<const RingPage*>(bytes);
  if (page.ring.magic == 0) return {};  // the recorder never used it
  REQUIRE(page.ring.magic == kRingMagic && page.ring.version == wire::kVersion,
          "{}: another version of Reweave made this, and only that version can complete the recording; remove it to "
          "continue without it",
          path);
  Rest rest;
  rest.from = page.ring.marks[page.ring.mark.load() & 1];
  rest.taken = page.out.tail.load();
  const std::uint64_t length = page.out.head.load() - rest.from.bytes;
  REQUIRE(length <= kOutRingBytes && length % 8 == 0 && rest.from.bytes % 8 == 0, "{}: its counters are damaged", path);
  rest.words.resize(length / 8);
  const std::uint64_t at = rest.from.bytes & (kOutRingBytes - 1), first = std::min(length, kOutRingBytes - at);
  read_at(fd, rest.words.data(), first, kRingPage + at, path);
  read_at(fd, rest.words.data() + first / 8, length - first, kRingPage, path);
  return rest;
}

std::uint64_t fixed_bytes(const wire::RecordHeader& record) {
  switch (static_cast<wire::RecordKind>(record.kind)) {
    case wire::RecordKind::kMapFile:
      return sizeof(wire::MapFileRecord);
    case wire::RecordKind::kSpawn:
      return sizeof(wire::SpawnRecord);
    case wire::RecordKind::kProcessExit:
      return sizeof(wire::ProcessExitRecord);
    case wire::RecordKind::kSyscall:
      return sizeof(wire::SyscallRecord);
    default:
      return sizeof(wire::RecordHeader);
  }
}

// True if the data of the record is missing: the recorder had not yet read it from a large file.
bool lacks_data(const wire::RecordHeader& record, std::uint64_t position, const Rest& rest) {
  if (record.kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall) || position < rest.taken) return false;
  return (wire::record_cast<wire::SyscallRecord>(record).flags & wire::kOutputApart) != 0;
}

// Appends the records that the events lack; the events have `have` records.
void append_rest(const Rest& rest, std::uint64_t have, RecordingWriter& writer, ManifestNotes& notes,
                 const std::string& path) {
  std::uint64_t number = rest.from.records;
  for (std::size_t at = 0; at < rest.words.size();) {
    const auto& record = *reinterpret_cast<const wire::RecordHeader*>(rest.words.data() + at);
    REQUIRE(record.bytes % 8 == 0 && record.bytes != 0 && record.bytes / 8 <= rest.words.size() - at &&
                record.bytes >= fixed_bytes(record),
            "{}: a record is damaged", path);
    const std::uint64_t position = rest.from.bytes + at * 8;
    at += record.bytes / 8;
    if (record.kind == static_cast<std::uint16_t>(wire::RecordKind::kNone)) continue;
    const bool is_there = number++ < have;
    if (!is_there && lacks_data(record, position, rest)) break;
    notes.note(&record);  // also records that the events have, because the manifest may lack their files
    if (!is_there) writer.append(&record);
  }
}

// Reads the whole blocks of the events, and notes the process of each thread. Returns nothing if the events are
// complete.
std::optional<RecordingWriter::End> read_events(const std::string& recording, ManifestNotes& notes) {
  RecordingReader reader(recording);
  while (const wire::RecordHeader* record = reader.next()) notes.learn(record);
  if (!reader.truncated()) return {};
  return RecordingWriter::End{reader.position(), reader.truncation().block(), reader.truncation().offset()};
}

void complete(const Folder& recording, int fd) {
  const std::string path = recording.path_of(kUnsaved);
  Manifest manifest = read_manifest(recording);
  if (manifest.complete) return;
  const Rest rest = read_rest(fd, path);
  if (rest.words.empty()) return;
  ManifestNotes notes(manifest);
  const auto end = read_events(recording.path(), notes);
  if (!end) return;
  REQUIRE(end->records >= rest.from.records, "{}: the events before it are missing", path);
  const auto append = [&] {
    RecordingWriter writer(recording.path(), *end);
    notes.set_writer(writer);
    append_rest(rest, end->records, writer, notes, path);
    writer.flush();
    writer.update_manifest(manifest);
  };
  try {
    append();
  } catch (const SystemError& error) {
    if (error.error_number() != ENOSPC && error.error_number() != EDQUOT) throw;
    SYSCALL_CHECK(::ftruncate(fd, 0), "{}", path);  // its space suffices, and its contents are in memory
    append();
  }
}

}  // namespace

Fd create_unsaved(const Folder& recording) {
  const std::string path = recording.path_of(kUnsaved);
  Fd fd = recording.create_file(kUnsaved, O_RDWR);
  int result;
  do result = ::fallocate(fd.get(), 0, 0, static_cast<off_t>(kFileBytes));
  while (result != 0 && errno == EINTR);
  if (result == 0 && prepare_beginning(fd.get()) && can_be_mapped(fd.get()) && hold(fd.get())) return fd;
  const int error = errno;
  recording.remove(kUnsaved);
  errno = error;
  SYSCALL_CHECK(is_lacking(error) ? 0 : -1, "{}", path);
  return {};
}

void remove_unsaved(const Folder& recording) { recording.remove(kUnsaved); }

void save_rest(const std::string& path_of_recording) {
  if (!is_folder(path_of_recording)) return;
  const Folder recording = Folder::open(path_of_recording);
  struct stat status {};
  // If it belongs to another user or is not a file, the verb that reads the recording reports the error.
  if (::fstatat(recording.fd(), kUnsaved, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid())
    return;
  const std::string path = recording.path_of(kUnsaved);
  const Fd fd = recording.open_file_to_change(kUnsaved);
  if (recorder_lives(fd.get()) || !wait_for_program(fd.get())) return;
  SYSCALL_CHECK(::fstat(fd.get(), &status), "{}", path);
  if (status.st_nlink == 0) return;  // another process has completed it meanwhile
  with_context([&] { return fmt::format("completing {}, whose recorder was killed", path_of_recording); },
               [&] { complete(recording, fd.get()); });
  remove_unsaved(recording);
}

}  // namespace reweave

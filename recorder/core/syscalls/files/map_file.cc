#include "recorder/core/syscalls/files/map_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/hash.h"
#include "recorder/core/base/open_own.h"
#include "recorder/core/log/log.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_contents.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/files/system_paths.h"
#include "recorder/core/syscalls/files/written_files.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/own_files.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostInlined = 64 << 10;  // bytes

bool is_zeros(const FileIdentity& file) { return string_equal(file.path, "/dev/zero"); }

// Copies a MapFileRecord into `file`; its path must end within the record. After that path, the supervisor appends the
// path to be opened in its place (RecordedFiles::located).
void read_record(const wire::MapFileRecord& record, FileIdentity& file) {
  const std::uint64_t room = record.header.bytes - sizeof record;
  const char* path = reinterpret_cast<const char*>(&record + 1);
  if (record.header.bytes < sizeof record + 8 || path[room - 1] != 0)
    diverged("read a damaged mapping", &record.header);
  file.device = record.device;
  file.inode = record.inode;
  file.size = record.file_size;
  file.ctime_ns = record.ctime_ns;
  file.changeable = (record.flags & kMapStandIn) != 0;
  file.inlined = (record.flags & kMapInlined) != 0;
  file.read_only = (record.flags & kMapReadOnly) != 0;
  file.program_slot = static_cast<std::uint32_t>(record.address == 0 ? record.offset : 0);
  if (file.program_slot >= kProgramSlots) diverged("read a damaged mapping", &record.header);
  copy_string(file.path, sizeof file.path, path);
  file.zeros = is_zeros(file);
  const std::uint64_t behind = string_length(path) + 1;
  copy_string(file.opened, sizeof file.opened, behind < room ? path + behind : "");
}

long open_recorded(const FileIdentity& file, long access) {
  const char* path = file.opened[0] != 0 ? file.opened : file.path;
  // The name may come from a stranger: it may be a FIFO, whose opening would block, or a link in place of a copy.
  const long fd =
      sys(SYS_open, path, access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (file.opened[0] != 0 ? O_NOFOLLOW : 0));
  if (is_error(fd)) {
    Text text;
    text << "cannot open " << path << " (error " << static_cast<int>(-fd)
         << "), which the recorded program mapped; restore it, or pack recordings where they are made (`reweave pack`)";
    stop_run(wire::OutcomeKind::kDiverged, text);
  }
  return fd;
}

// Opens the mapped file, or makes an empty one if its contents are in the log. Files that the program may write to have
// stand-ins. So no file is opened for writing, except /dev/zero.
long open_or_make(const FileIdentity& file) {
  if (!file.inlined) return open_recorded(file, file.zeros ? O_RDWR : O_RDONLY);
  const long fd = sys(SYS_memfd_create, "contents", MFD_CLOEXEC);
  if (is_error(fd) || is_error(sys(SYS_ftruncate, fd, file.size))) bug("cannot make a file for the mapped contents");
  return fd;
}

void map_opened(long fd, const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                long offset) {
  const long result = sys(SYS_mmap, start, bytes, prot, flags, fd, offset);
  if (!is_error(result)) return;
  Text text;
  text << "cannot map " << file.path << " (error " << static_cast<int>(-result) << ")";
  stop_run(wire::OutcomeKind::kDiverged, text);
}

// The supervisor copies files of /etc as well, but no thread waits for that.
bool belongs_to_system(const FileIdentity& file) { return core::belongs_to_system(file.path); }

// The key by which the supervisor tells files apart.
std::uint64_t name_for_supervisor(const FileIdentity& file) {
  std::uint64_t name = version_of(file);
  for (const char* letter = file.path; *letter != 0; letter++) name = mix(name, static_cast<std::uint8_t>(*letter));
  return name;
}

bool is_noted(std::uint64_t name) {
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.noted_count; i++)
    if (s.noted_files[i] == name) return true;
  return false;
}

// Call this after publishing a record whose file the supervisor has to copy. Waits until the supervisor has done so,
// once per file.
void wait_until_noted(const FileIdentity& file) {
  RuntimeState& s = state();
  const std::uint64_t name = name_for_supervisor(file);
  if (is_noted(name)) return;
  wait_until_drained();
  if (s.noted_count < kMaxNotedFiles) s.noted_files[s.noted_count++] = name;
}

bool is_elf(const void* beginning, long bytes) {
  return bytes >= SELFMAG && __builtin_memcmp(beginning, ELFMAG, SELFMAG) == 0;
}

// Debuggers and unwinders look for the files of programs and libraries by name.
bool is_program(long fd) {
  char magic[SELFMAG];
  return is_elf(magic, sys(SYS_pread64, fd, magic, SELFMAG, 0));
}

// True if the file was opened for writing in this run, so it may change while it is mapped. False for programs and
// libraries, whose files others look for by name. Half of the stand-ins are kept for files that certainly change.
bool may_be_written(const FileIdentity& file, long fd) {
  return is_written_file(file.device, file.inode) && state().stand_in_count < kMaxStandIns / 2 && !is_program(fd);
}

void take_status(long fd, const struct stat& status, FileIdentity& file) {
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.size = file_bytes(fd, status);
  file.ctime_ns = static_cast<std::int64_t>(status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec);
  // ctime, because a copy may have the mtime of its source
  file.fresh = file.ctime_ns >= config().start_time_ns;
}

// True if the file is in the file system at /dev/shm; its name does not matter.
bool is_shared_memory(const FileIdentity& file) {
  std::uint64_t& device = state().shared_memory_device;
  struct stat status = {};
  if (device == 0) device = is_error(sys(SYS_stat, "/dev/shm", &status)) ? ~std::uint64_t{0} : status.st_dev;
  return file.device == device;
}

// Gives files that the core has put into the program the names that the supervisor uses: the names differ under another
// root, and are incomplete if Reweave itself runs in a root of its own. True if the file is one of those.
bool name_own_file(FileIdentity& file) {
  const OwnFiles files = own_files(config());
  for (const OwnFile& own : files.items) {
    struct stat status = {};
    const bool known = !is_error(sys(SYS_fstat, own.fd, &status));
    if (!known || status.st_dev != file.device || status.st_ino != file.inode) continue;
    copy_string(file.path, sizeof file.path, own.path);
    return true;
  }
  return false;
}

bool is_data(long prot, long flags) { return (flags & MAP_TYPE) == MAP_PRIVATE && (prot & PROT_EXEC) == 0; }

bool is_small_data(const struct stat& status, long prot, long flags) {
  return is_data(prot, flags) && (status.st_mode & S_IFMT) == S_IFREG && status.st_nlink != 0 &&
         static_cast<std::uint64_t>(status.st_size) <= kMostInlined;
}

}  // namespace

std::uint64_t version_of(const FileIdentity& file) {
  std::uint64_t version = 1;
  for (const std::uint64_t word : {file.device, file.inode, static_cast<std::uint64_t>(file.ctime_ns), file.size})
    version = mix(version, word);
  return version;
}

bool identify_small_file(long fd, const struct stat& status, long prot, long flags, FileIdentity& file,
                         SmallContents& contents) {
  const OpenedFile* opened = is_small_data(status, prot, flags) ? opened_file(fd) : nullptr;
  if (opened == nullptr || (opened->flags & O_ACCMODE) != O_RDONLY) return false;
  take_status(fd, status, file);
  copy_string(file.path, sizeof file.path, opened->path);
  if (is_shared_memory(file) || (!file.fresh && belongs_to_system(file))) return false;
  if (is_written_file(file.device, file.inode)) return false;
  auto* const data = reinterpret_cast<std::byte*>(scratch_of(self()));
  const long got = sys(SYS_pread64, fd, data, kMostInlined + 1, 0);
  if (got != status.st_size || is_elf(data, got)) return false;
  contents = {data, static_cast<std::uint64_t>(got)};
  file.read_only = file.inlined = true;
  return true;
}

void identify_file(long fd, const struct stat& status, FileIdentity& file) {
  take_status(fd, status, file);
  path_of_fd(fd, file.path, sizeof file.path);
  const bool is_at_path = leads_to(file.path, status);
  const bool is_own = state().roots_differ != 0 && name_own_file(file);
  file.zeros = is_zeros(file);
  const long flags = sys(SYS_fcntl, fd, F_GETFL, 0);
  const bool writable = !is_error(flags) && (flags & O_ACCMODE) == O_RDWR;
  file.read_only = !writable;
  const bool regular = (status.st_mode & S_IFMT) == S_IFREG;
  const bool nameless = status.st_nlink == 0 || !(is_at_path || is_own);
  const bool changes = writable || !regular || nameless || starts_with(file.path, "/dev/shm/");
  file.changeable = !file.zeros && (changes || may_be_written(file, fd));
}

void decide_inlining(FileIdentity& file, long fd, long prot, long flags) {
  const bool can_be = is_data(prot, flags) && !file.changeable && !file.zeros;
  file.inlined = can_be && file.size <= kMostInlined && (file.fresh || !belongs_to_system(file)) && !is_program(fd);
}

void log_mapped_file(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long offset, long prot,
                     long flags) {
  RecordWriter record(wire::RecordKind::kMapFile, self().id, sizeof(wire::MapFileRecord), string_length(file.path) + 1);
  auto& body = record.body<wire::MapFileRecord>();
  body.address = start;
  body.length = bytes;
  body.offset = static_cast<std::uint64_t>(offset);
  body.device = file.device;
  body.inode = file.inode;
  body.file_size = file.size;
  body.ctime_ns = file.ctime_ns;
  body.prot = static_cast<std::uint32_t>(prot);
  body.flags = static_cast<std::uint32_t>(flags) | (file.changeable && bytes != 0 ? kMapStandIn : 0) |
               (file.inlined ? kMapInlined : 0) | (file.read_only ? kMapReadOnly : 0) | (file.fresh ? kMapFresh : 0);
  // The copy must be made before this thread continues, because the program may replace the file at once. git does that
  // with its index at each commit.
  const bool is_logged = (body.flags & (kMapStandIn | kMapInlined)) != 0;
  const bool is_copied = !is_logged && (file.fresh || !belongs_to_system(file));
  const bool must_be_kept = is_copied && live();
  record.append_path(file.path);
  record.commit();
  if (must_be_kept) wait_until_noted(file);
}

void log_contents_of(const FileIdentity& file, long fd, std::uint64_t offset, std::uint64_t bytes) {
  if (file.inlined) return log_small_file(fd, file.size);
  if (file.changeable) log_contents(fd, offset, bytes);
}

void map_modelled_file(const wire::MapFileRecord& recorded, FileIdentity& file, std::uint64_t start,
                       std::uint64_t bytes, long prot, long flags, long offset) {
  read_record(recorded, file);
  if (file.changeable) {
    map_stand_in_of_run(recorded, file, start, bytes, prot, flags, offset);
    log_mapped_file(file, start, bytes, offset, prot, flags);
    return log_stand_in(find_stand_in(file.device, file.inode), static_cast<std::uint64_t>(offset), bytes);
  }
  const long fd = open_or_make(file);
  if (file.inlined) copy_contents(recorded, fd, 0, false);
  map_opened(fd, file, start, bytes, prot, flags, offset);
  log_mapped_file(file, start, bytes, offset, prot, flags);
  log_contents_of(file, fd, static_cast<std::uint64_t>(offset), bytes);
  sys(SYS_close, fd);
}

std::uint64_t recorded_mapping_bytes() {
  return expect<wire::MapFileRecord>(wire::RecordKind::kMapFile, "mapped memory").length;
}

void map_recorded_file(FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                       long offset) {
  read_record(expect<wire::MapFileRecord>(wire::RecordKind::kMapFile, "mapped a file"), file);
  consume_record();
  if (file.changeable) return map_stand_in(file, start, bytes, prot, flags, offset);
  if (file.inlined && file.size <= kMostInlined && static_cast<std::uint64_t>(offset) + bytes <= page_up(file.size)) {
    const std::uint64_t base = room_for_contents(file.size);
    take_contents(kContentsFd, base);
    return map_opened(kContentsFd, file, start, bytes, prot, flags, static_cast<long>(base) + offset);
  }
  const long fd = open_or_make(file);
  if (file.inlined) take_contents(fd, 0);
  map_opened(fd, file, start, bytes, prot, flags, offset);
  sys(SYS_close, fd);
  if (tracing() && (prot & PROT_EXEC) != 0)
    trace_module(file, start - static_cast<std::uint64_t>(offset), start, start + bytes);
}

namespace {

// Logs the part of a script that the kernel reads, because the file may later be removed or replaced.
void log_head(const FileHead& head) {
  PseudoCall record(wire::kScriptHead, sizeof head.data);
  record.fields().result = head.bytes;
  record.append_chunk(0, head.data, sizeof head.data);
  record.commit();
}

void read_head(const wire::SyscallRecord& record, FileHead& head) {
  const wire::OutputChunk* chunk = sole_chunk(record.header);
  const bool sound = record.number == wire::kScriptHead && chunk != nullptr && chunk->bytes == sizeof head.data &&
                     record.result >= 0 && record.result <= static_cast<std::int64_t>(sizeof head.data);
  if (!sound) diverged("executed a script", &record.header);
  memcpy(head.data, chunk + 1, sizeof head.data);
  head.bytes = record.result;
}

// A script is not opened, because its head is known. Any other file is opened and its head read.
long open_known_image(const FileIdentity& file, FileHead& head) {
  if (file.changeable) return sys(SYS_open, "/dev/null", O_RDONLY | O_CLOEXEC);
  const long fd = open_recorded(file, O_RDONLY);
  head.bytes = sys(SYS_pread64, fd, head.data, sizeof head.data, 0);
  return fd;
}

long open_recorded_image(FileIdentity& file, FileHead& head) {
  read_record(expect<wire::MapFileRecord>(wire::RecordKind::kMapFile, "loaded a program"), file);
  consume_record();
  if (file.changeable) {
    read_head(expect<wire::SyscallRecord>(wire::RecordKind::kSyscall, "executed a script"), head);
    consume_record();
  }
  return open_known_image(file, head);
}

constexpr long kImageProtection = PROT_READ | PROT_EXEC;

void log_image(const FileIdentity& file, bool is_script) {
  log_mapped_file(file, 0, 0, file.program_slot, kImageProtection,
                  MAP_PRIVATE | (is_script ? static_cast<long>(kMapStandIn) : 0));
}

// Recording: the slot of the program at `path`. The program that the user named, and each copy of it, has slot 0.
std::uint32_t choose_slot(const char* path, bool first) {
  std::uint64_t hash = 1;
  for (const char* at = path; *at != 0; at++) hash = mix(hash, static_cast<unsigned char>(*at));
  if (first) state().first_program = hash;
  return hash == state().first_program ? 0 : 1 + static_cast<std::uint32_t>(hash % (kProgramSlots - 1));
}

// Opens the file that the recorded run loaded at this point.
long open_modelled_image(FileIdentity& file, FileHead& head) {
  const wire::MapFileRecord* recorded = explored.next_image();
  if (recorded == nullptr)
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: it ends before the executed program begins");
  read_record(*recorded, file);
  log_image(file, file.changeable);
  if (file.changeable) {
    read_head(wire::record_cast<wire::SyscallRecord>(*record_after(recorded->header)), head);
    log_head(head);
  }
  return open_known_image(file, head);
}

}  // namespace

long open_image(const char* path, bool first, FileIdentity& file, FileHead& head) {
  if (replaying()) return open_recorded_image(file, head);
  if (modelled()) return open_modelled_image(file, head);
  const long fd = open_own(AT_FDCWD, path, O_RDONLY);
  if (is_error(fd)) return fd;
  head.bytes = sys(SYS_pread64, fd, head.data, sizeof head.data, 0);
  const bool script = head.bytes > 2 && head.data[0] == '#' && head.data[1] == '!';
  struct stat status = {};
  sys(SYS_fstat, fd, &status);
  identify_file(fd, status, file);
  if (file.changeable && starts_with(path, "/proc/")) copy_string(file.path, sizeof file.path, path);
  file.program_slot = choose_slot(file.path, first);
  log_image(file, script);
  if (script) log_head(head);
  return fd;
}

void trace_module(const FileIdentity& file, std::uint64_t base, std::uint64_t start, std::uint64_t end) {
  const std::uint64_t bytes = round_to(sizeof(wire::ModuleRecord) + string_length(file.path) + 1, 8);
  auto* record = reinterpret_cast<wire::ModuleRecord*>(reserve_out(bytes));
  memset(record, 0, bytes);
  record->header = {static_cast<std::uint16_t>(wire::RecordKind::kModule), self().id,
                    static_cast<std::uint32_t>(bytes)};
  record->base = base;
  record->start = start;
  record->end = end;
  copy_string(reinterpret_cast<char*>(record + 1), bytes - sizeof *record, file.path);
  publish_out(bytes);
}

}  // namespace reweave::core

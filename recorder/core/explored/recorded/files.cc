#include "recorder/core/explored/recorded/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/contents.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/recorded/outputs_of.h"
#include "recorder/core/explored/recorded/processes.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/named_files.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMostCopies = 4096;  // made by one run

IN_MODEL RecordedFile* files;
IN_MODEL std::uint32_t count, room;
IN_MODEL std::uint32_t at_start[kMaxFds];  // plus one
// During indexing: the files of each process of the recorded run, by its index, and (open_now) of the process that made
// the current call. An entry is the file's index plus one, or one of these values:
constexpr std::uint32_t kAsAtStart = 0, kClosedNow = ~0u;
using OpenTable = std::uint32_t[kMaxFds];
OpenTable* open_tables;
std::uint32_t* open_now;
IN_MODEL bool seen[kMaxFds];

bool is_descriptor(long fd) { return fd >= 0 && fd < static_cast<long>(kMaxFds); }

std::uint32_t new_file() {
  if (count == room) return kNothing;
  files[count] = {kNothing, kNothing, 0, 0, kNothing, 0, 0, Source::kRecorded, false, false, false, false, -1};
  return count++;
}

// Returns the file to which the descriptor refers. If no recorded call created it, adds a file: it was open at the
// start of the runs, or was received with a message.
std::uint32_t file_now(long fd) {
  if (!is_descriptor(fd)) return kNothing;
  std::uint32_t& now = open_now[fd];
  if (now == kAsAtStart) now = at_start[fd];
  if (now == kAsAtStart || now == kClosedNow) {
    const std::uint32_t file = new_file();
    if (file == kNothing) return kNothing;
    now = file + 1;
    if (!seen[fd]) at_start[fd] = file + 1;
  }
  seen[fd] = true;
  return now - 1;
}

void lead_to(long fd, std::uint32_t file) {
  if (!is_descriptor(fd)) return;
  seen[fd] = true;
  open_now[fd] = file == kNothing ? kClosedNow : file + 1;
}

std::uint32_t make(long fd) {
  const std::uint32_t file = new_file();
  lead_to(fd, file);
  return file;
}

}  // namespace

Source source_of_device(const char* name) {
  constexpr struct {
    const char* name;
    Source source;
  } kDevices[] = {{"/dev/urandom", Source::kRandom},
                  {"/dev/random", Source::kRandom},
                  {"/dev/zero", Source::kZeros},
                  {"/dev/null", Source::kEmpty}};
  for (const auto& device : kDevices)
    if (string_equal(device.name, name)) return device.source;
  return Source::kRecorded;
}

namespace {

Source source_of(const wire::NamedFiles& names, const char* name) {
  return (names.mode & S_IFMT) == S_IFCHR ? source_of_device(name) : Source::kRecorded;
}

void note_opened_file(std::uint32_t made, const wire::SyscallRecord& record) {
  RecordedFile& file = files[made];
  const SyscallRow& row = *find_row(record.number);
  if ((row.flags & kMakesSocket) != 0) file.datagrams = (record.args[1] & 0xf) != SOCK_STREAM;
  const wire::NamedFiles* names = recorded_names(record);
  if (names == nullptr) return;
  file.source = source_of(*names, reinterpret_cast<const char*>(names + 1));
  if ((names->mode & S_IFMT) != S_IFREG || (row.flags & kFlagsInMemory) != 0) return;
  const bool opens = (row.flags & kOpens) != 0, changes = (row.flags & kChangesFile) != 0;
  // The other calls: creat and memfd_create.
  const std::uint64_t flags = opens ? record.args[row.at.flags] : changes ? O_CREAT | O_TRUNC : O_CREAT | O_EXCL;
  file.appends = (flags & O_APPEND) != 0;
  file.contents = contents_of(*names, flags);
}

void note_duplicate(RecordedCall& call, const wire::SyscallRecord& record) {
  const bool is_command =
      record.number == SYS_fcntl && (record.args[1] == F_DUPFD || record.args[1] == F_DUPFD_CLOEXEC);
  const bool duplicates = (find_row(record.number)->flags & kDuplicates) != 0;
  if ((!is_command && !duplicates) || is_error(record.result)) return;
  if (static_cast<long>(record.args[0]) == record.result) return;
  lead_to(record.result, call.file);
  call.made = call.file;
}

// Notes a call that created two files. The index of the second is that of the first plus one.
void note_pair(RecordedCall& call, const wire::SyscallRecord& record) {
  std::int32_t pair[2];
  const wire::OutputChunk* chunk = sole_chunk(record.header);
  if (chunk == nullptr || chunk->bytes != sizeof pair) return;
  memcpy(pair, chunk + 1, sizeof pair);
  call.made = make(pair[0]);
  if (make(pair[1]) == kNothing) call.made = kNothing;
}

void note_closed(const wire::SyscallRecord& record) {
  if (record.number == SYS_close) lead_to(static_cast<long>(record.args[0]), kNothing);
  if (record.number != SYS_close_range || (record.args[2] & 4 /* CLOSE_RANGE_CLOEXEC */) != 0) return;
  for (std::uint64_t fd = record.args[0]; fd <= record.args[1] && fd < kMaxFds; fd++)
    if (open_now[fd] != kAsAtStart) lead_to(static_cast<long>(fd), kNothing);
}

// Calls that move data between files in the kernel: their descriptors, and the source offset. The data written is not
// known; reading moves the position, unless the caller passes an offset.
void note_copy(const wire::SyscallRecord& record) {
  constexpr struct {
    long number;
    int from, to, place;
  } kCopies[] = {{SYS_sendfile, 1, 0, 2}, {SYS_splice, 0, 2, 1}, {SYS_copy_file_range, 0, 2, 1}};
  for (const auto& copy : kCopies) {
    if (copy.number != record.number) continue;
    const std::uint32_t from = file_now(static_cast<std::int32_t>(record.args[copy.from]));
    const std::uint32_t to = file_now(static_cast<std::int32_t>(record.args[copy.to]));
    if (to != kNothing && files[to].contents != kNothing) contents_at(files[to].contents).unreliable = true;
    if (from != kNothing && record.args[copy.place] == 0) files[from].position += record.result;
  }
}

void add_input(RecordedCall& call, std::uint32_t index) {
  if (index == kNothing) return;
  RecordedFile& file = files[call.file];
  call.outputs_before = file.outputs;
  if (file.inputs == kNothing)
    file.inputs = index;
  else
    recorded_call_at(file.last_input).next_input = index;
  file.last_input = index;
}

// True if the call leaves the data to be read again (MSG_PEEK).
bool peeks(const wire::SyscallRecord& record) {
  const CallPlaces& at = find_row(record.number)->at;
  const int flags = at.offset < 0 && at.count < 0 ? at.flags : -1;  // recvfrom, recvmsg
  return flags >= 0 && (record.args[flags] & MSG_PEEK) != 0;
}

}  // namespace

long prepare_recorded_files(std::uint64_t memory, std::uint64_t calls) {
  room = static_cast<std::uint32_t>(2 * calls + kMaxFds + kMostCopies);
  const std::uint64_t bytes = round_to(room * sizeof(RecordedFile), kPage);
  constexpr long kProtection = PROT_READ | PROT_WRITE;
  constexpr long kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (memory + bytes > kFeedBase) return -ENOMEM;
  // The tables use the memory reserved for runs, which is not in use yet.
  const long tables = sys(SYS_mmap, kModelBase, kMaxProcesses * sizeof(OpenTable), kProtection, kHow, -1, 0);
  if (is_error(tables)) return tables;
  open_tables = reinterpret_cast<OpenTable*>(kModelBase);
  const long at = sys(SYS_mmap, memory, bytes, kProtection, kHow, -1, 0);
  files = reinterpret_cast<RecordedFile*>(memory);
  return is_error(at) ? at : static_cast<long>(memory + bytes);
}

RecordedFile& recorded_file(std::uint32_t file) { return files[file]; }
std::uint32_t recorded_file_count() { return count; }

std::uint32_t copy_recorded_file(std::uint32_t file) {
  const std::uint32_t copy = new_file();
  if (copy == kNothing) return kNothing;
  files[copy].contents = files[file].contents;
  files[copy].source = files[file].source;
  files[copy].appends = files[file].appends;
  return copy;
}

std::uint32_t add_file(std::uint64_t device, std::uint64_t inode, std::uint32_t mode, long flags) {
  const std::uint32_t contents = add_contents(device, inode, mode);
  const std::uint32_t file = contents == kNothing ? kNothing : new_file();
  if (file == kNothing) return kNothing;
  files[file].contents = contents;
  files[file].flags = static_cast<std::int32_t>(flags);
  files[file].appends = (flags & O_APPEND) != 0;
  return file;
}

std::uint32_t add_device(Source source, long flags) {
  const std::uint32_t file = new_file();
  if (file == kNothing) return kNothing;
  files[file].source = source;
  files[file].flags = static_cast<std::int32_t>(flags);
  return file;
}

std::uint32_t file_at_start(long fd) { return is_descriptor(fd) && at_start[fd] != 0 ? at_start[fd] - 1 : kNothing; }

bool is_recorded_descriptor(long fd) { return is_descriptor(fd) && seen[fd]; }

void forget_recorded_files(std::uint16_t process) { memset(open_tables[process], 0, sizeof(OpenTable)); }

void begin_at_departure(std::uint16_t process) {
  OpenTable& table = open_tables[process];
  for (std::uint32_t fd = 0; fd < kMaxFds; fd++) {
    seen[fd] = table[fd] != kAsAtStart && table[fd] != kClosedNow;
    at_start[fd] = seen[fd] ? table[fd] : 0;
    table[fd] = kAsAtStart;
  }
  for (std::uint32_t i = 0; i < count; i++) {
    files[i].inputs = files[i].last_input = kNothing;
    files[i].outputs = 0;
    files[i].begins_at = files[i].position;
  }
}

void inherit_recorded_files(std::uint16_t from, std::uint16_t to) {
  if (from != to && from < kMaxProcesses && to < kMaxProcesses)
    memcpy(open_tables[to], open_tables[from], sizeof(OpenTable));
}

void forget_recorded_tables() {
  sys(SYS_munmap, kModelBase, kMaxProcesses * sizeof(OpenTable));
  open_tables = nullptr;
}

int descriptor_argument(long number) {
  const std::uint64_t flags = find_row(number)->flags;
  if ((flags & (kFirstIsFd | kFirstIsFolder | kDuplicates)) != 0) return 0;
  return find_row(number)->at.fd;
}

void index_file_use(RecordedCall& call, std::uint32_t index, const wire::SyscallRecord& record) {
  const int argument = descriptor_argument(record.number);
  open_now = open_tables[recorded_process_of(call.thread)];
  const bool is_memory = find_row(record.number)->at.fd >= 0 && (record.args[3] & MAP_ANONYMOUS) != 0;
  if (argument >= 0 && !is_memory) call.file = file_now(static_cast<std::int32_t>(record.args[argument]));
  const std::uint64_t flags = find_row(record.number)->flags;
  if (call.file != kNothing) {
    RecordedFile& file = files[call.file];
    const auto& parts = *record_at(call.parts);
    file.changes_mapped = file.changes_mapped || is_pseudo_call(parts, wire::kFileChanged);
    if (sends_outside(record.number)) file.outputs++;
    const bool again = record.result == -EAGAIN || record.result == -EINTR || record.result == -EPIPE;
    const HowChanged change = find_row(record.number)->at.change;
    const bool writes = change == HowChanged::kAtPosition || change == HowChanged::kAtOffset;
    if (writes && is_error(record.result) && !again) file.refuses_writes = true;
    if (hears_outside(record.number) && !peeks(record)) add_input(call, index);
    index_contents_use(file, call);
  }
  if (is_error(record.result)) return;
  if ((flags & kNewFd) != 0) {
    call.made = make(record.result);
    if (call.made != kNothing) note_opened_file(call.made, record);
  }
  if ((flags & kNewFdPair) != 0) note_pair(call, record);
  note_copy(record);
  note_duplicate(call, record);
  note_closed(record);
}

}  // namespace reweave::core

#include "recorder/core/syscalls/named_files.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kLongest = sizeof(NamedText::text) / 2;

// Appends the name at `address`. False: it is not in readable memory, or is not terminated.
bool append(NamedText& to, std::uint64_t address) {
  const std::uint64_t there = bytes_there(address, kLongest);
  const auto* name = reinterpret_cast<const char*>(address);
  for (std::uint64_t i = 0; i < there; i++) {
    to.text[to.files.text_bytes++] = name[i];
    if (name[i] == 0) return true;
  }
  return false;
}

// Gets the identity of the opened file. Does nothing if a program of the tree may serve the file: that program could
// not answer while the caller has the baton.
void look_at_opened(NamedText& to, long fd) {
  struct stat status;
  if (!live()) return explored.identify(fd, to.files);
  if (state().serves_files != 0 || is_error(sys(SYS_fstat, fd, &status))) return;
  to.files.device = status.st_dev;
  to.files.inode = status.st_ino;
  to.files.size = status.st_size;
  to.files.mode = status.st_mode;
}

}  // namespace

const NamedText* names_of(const Call& call, long result) {
  static NamedText named;
  if (call.row->paths == 0 || result == -EFAULT) return nullptr;
  named.files = {};
  for (unsigned paths = call.row->paths; paths != 0; paths &= paths - 1)
    if (!append(named, static_cast<std::uint64_t>(call.logged[__builtin_ctz(paths)]))) return nullptr;
  if ((call.row->flags & kNewFd) != 0 && !is_error(result)) look_at_opened(named, result);
  return &named;
}

const wire::NamedFiles* recorded_names(const wire::SyscallRecord& record) {
  const auto* chunk = reinterpret_cast<const wire::OutputChunk*>(&record + 1);
  const auto* named = reinterpret_cast<const wire::NamedFiles*>(chunk + 1);
  if ((record.flags & wire::kNamesFiles) == 0 || record.header.bytes < sizeof record + sizeof *chunk + sizeof *named)
    return nullptr;
  if (chunk->bytes > record.header.bytes - sizeof record - sizeof *chunk || chunk->bytes < sizeof *named)
    return nullptr;
  return named->text_bytes <= chunk->bytes - sizeof *named ? named : nullptr;
}

}  // namespace reweave::core

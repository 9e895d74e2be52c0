#include "recorder/core/explored/matching.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "recorder/core/explored/made_up_names.h"
#include "recorder/core/explored/modelled_files.h"
#include "recorder/core/explored/outputs_of.h"
#include "recorder/core/explored/recorded_contents.h"
#include "recorder/core/explored/recorded_files.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/named_files.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

bool has_names;

constexpr long kLookOrRepeat[] = {
    SYS_stat,
    SYS_lstat,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_access,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlink,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrlimit,
    SYS_getrusage,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getppid,
    SYS_getpgrp,
    SYS_getpgid,
    SYS_getsid,
    SYS_getgroups,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getpriority,
    SYS_sched_getparam,
    SYS_sched_getaffinity,
    SYS_sched_getattr,
    SYS_sched_getscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_sched_setaffinity,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_setpriority,
    SYS_clock_getres,
    SYS_statfs,
    SYS_fstatfs,
    SYS_getxattr,
    SYS_lgetxattr,
    SYS_fgetxattr,
    SYS_listxattr,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_fadvise64,
    SYS_fsync,
    SYS_fdatasync,
    SYS_msync,
    SYS_times,
    SYS_getcpu,
    SYS_membarrier,
    SYS_mlock,
    SYS_munlock,
    SYS_set_mempolicy,
    SYS_get_mempolicy,
    SYS_mbind,
    SYS_fchmod,
    SYS_readahead,
    SYS_syncfs,
    SYS_sync,
};

// Calls that look or change, as an argument says.
bool only_looks(const Call& call) {
  switch (call.number) {
    case SYS_fcntl:
      return call.logged[1] != F_DUPFD && call.logged[1] != F_DUPFD_CLOEXEC;
    case SYS_prlimit64:
      return call.logged[2] == 0;
    case SYS_ioctl:
      return call.logged[1] == 0x5401 /* TCGETS */ || call.logged[1] == 0x5413 /* TIOCGWINSZ */;
    case SYS_prctl:
      return true;  // what changes something says the same each time
    default:
      return false;
  }
}

// Opening a file to read it, which anybody can do at any time.
bool may_open_again(const Call& call, const RecordedCall& recorded) {
  if ((open_flags(call) & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY) return false;
  if (recorded.made == kNothing) return true;
  const RecordedFile& made = recorded_file(recorded.made);
  return made.source != Source::kRecorded || reliable_contents(made) != nullptr;
}

bool are_equal(const char* a, const char* b, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; i++)
    if (a[i] != b[i]) return false;
  return true;
}

bool same_names(const Asked& asked, const wire::SyscallRecord& record) {
  if (!has_names || asked.call.row->paths == 0) return true;
  const wire::NamedFiles* names = recorded_names(record);
  if (names == nullptr || asked.names == nullptr) return names == nullptr && asked.names == nullptr;
  if (names->text_bytes != asked.name_bytes) return false;
  const auto* text = reinterpret_cast<const char*>(names + 1);
  if (!asked.made_up) return are_equal(text, asked.names, asked.name_bytes);
  return differ_as_made_up(text, asked.names, asked.name_bytes);
}

// The names, with what was recorded in place of what this run made up.
const char* recorded_form(const NamedText& names) {
  static char form[sizeof names.text];
  memcpy(form, names.text, names.files.text_bytes);
  put_recorded_names(form, names.files.text_bytes);
  return form;
}

// Two open files of the same contents are as good as one for calls that do not move a position in them.
bool same_file(const Asked& asked, const RecordedCall& recorded) {
  if (recorded.file == asked.file) return true;
  if (recorded.file == kNothing || asked.file == kNothing) return false;
  const std::uint32_t contents = recorded_file(recorded.file).contents;
  return contents != kNothing && contents == recorded_file(asked.file).contents;
}

}  // namespace

Asked asked_by(const Call& call) {
  Asked asked = {call, kNothing, nullptr, 0, call.row->ints, false};
  const int descriptor = descriptor_argument(call.number);
  if (descriptor >= 0) asked.file = file_of(static_cast<std::int32_t>(call.logged[descriptor]));
  // A file may have another number than when it was recorded.
  if (asked.file != kNothing) asked.numbers = static_cast<std::uint8_t>(asked.numbers & ~(1u << descriptor));
  const CallPlaces& at = call.row->at;
  if (at.offset >= 0 && at.change == HowChanged::kUnknown)
    asked.numbers = static_cast<std::uint8_t>(asked.numbers | 1u << at.offset);
  if ((call.row->flags & kOpens) != 0)
    asked.numbers &= static_cast<std::uint8_t>((2u << at.flags) - 1);  // the mode counts only for what is made
  if (const NamedText* names = names_of(call, 0)) {
    asked.names = recorded_form(*names);
    asked.name_bytes = names->files.text_bytes;
  }
  return asked;
}

bool answers(const Asked& asked, const RecordedCall& recorded) {
  const wire::SyscallRecord& record = record_of(recorded);
  for (unsigned numbers = asked.numbers; numbers != 0; numbers &= numbers - 1) {
    const int i = __builtin_ctz(numbers);
    if (record.args[i] != static_cast<std::uint64_t>(asked.call.logged[i])) return false;
  }
  return same_file(asked, recorded) && same_names(asked, record) && outputs_fit(asked.call, recorded);
}

bool makes_new(const Call& call) {
  if (call.number == SYS_mkdir || call.number == SYS_mkdirat) return true;
  if ((call.row->flags & kOpens) == 0) return false;
  return (open_flags(call) & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

void note_made_up(const Asked& asked, const RecordedCall& recorded) {
  const wire::NamedFiles* names = recorded_names(record_of(recorded));
  note_made_up(asked.names, reinterpret_cast<const char*>(names + 1), asked.name_bytes);
}

bool may_answer_again(const Call& call, const RecordedCall& recorded) {
  if ((call.row->flags & kOpens) != 0) return may_open_again(call, recorded);
  for (const long number : kLookOrRepeat)
    if (number == call.number) return true;
  return only_looks(call);
}

void note_recording_has_names() { has_names = true; }

}  // namespace reweave::core

#include "recorder/core/explored/recorded/matching.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/contents.h"
#include "recorder/core/explored/recorded/files.h"
#include "recorder/core/explored/recorded/made_up_names.h"
#include "recorder/core/explored/recorded/outputs_of.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/named_files.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/syscalls/unused_arguments.h"

namespace reweave::core {

namespace {

IN_MODEL bool has_names;

// True if the call only reads state, or gives the same answer each time.
bool only_looks(const Call& call) {
  switch (call.row->repeats) {
    case Repeats::kAlways:
      return true;
    case Repeats::kUnlessDuplicating:
      return call.logged[1] != F_DUPFD && call.logged[1] != F_DUPFD_CLOEXEC;
    case Repeats::kUnlessSetting:
      return call.logged[2] == 0;
    case Repeats::kOfTerminal:
      return call.logged[1] == 0x5401 /* TCGETS */ || call.logged[1] == 0x5413 /* TIOCGWINSZ */;
    default:
      return false;
  }
}

// True for opening a file to read it, which any thread can do at any time.
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

// The names, with recorded pieces in place of those that this run made up.
const char* recorded_form(const NamedText& names) {
  static char form[sizeof names.text];
  memcpy(form, names.text, names.files.text_bytes);
  put_recorded_names(form, names.files.text_bytes);
  return form;
}

// For calls that do not move the position, two open files with the same contents are equivalent.
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
  // A file may have another descriptor number than in the recording.
  if (asked.file != kNothing) asked.numbers = static_cast<std::uint8_t>(asked.numbers & ~(1u << descriptor));
  const CallPlaces& at = call.row->at;
  if (at.offset >= 0 && at.change == HowChanged::kUnknown)
    asked.numbers = static_cast<std::uint8_t>(asked.numbers | 1u << at.offset);
  if ((call.row->flags & kOpens) != 0)
    asked.numbers &= static_cast<std::uint8_t>((2u << at.flags) - 1);  // what is created may have any mode
  if (const NamedText* names = names_of(call, -ENOENT)) {              // nothing is open yet
    asked.names = recorded_form(*names);
    asked.name_bytes = names->files.text_bytes;
  }
  return asked;
}

bool answers(const Asked& asked, const RecordedCall& recorded) {
  const wire::SyscallRecord& record = record_of(recorded);
  for (unsigned numbers = asked.numbers; numbers != 0; numbers &= numbers - 1) {
    const int i = __builtin_ctz(numbers);
    const bool equal = record.args[i] == static_cast<std::uint64_t>(asked.call.logged[i]);
    if (!equal && !is_unused(asked.call.number, asked.call.logged, i)) return false;
  }
  return same_file(asked, recorded) && same_names(asked, record) && outputs_fit(asked.call, recorded);
}

bool makes_new(const Call& call) {
  if ((call.row->flags & kMakesFolder) != 0) return true;
  if ((call.row->flags & kOpens) == 0) return false;
  return (open_flags(call) & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

void note_made_up(const Asked& asked, const RecordedCall& recorded) {
  const wire::NamedFiles* names = recorded_names(record_of(recorded));
  note_made_up(asked.names, reinterpret_cast<const char*>(names + 1), asked.name_bytes);
}

bool may_answer_again(const Call& call, const RecordedCall& recorded) {
  if ((call.row->flags & kOpens) != 0) return may_open_again(call, recorded);
  return only_looks(call);
}

void note_recording_has_names() { has_names = true; }

}  // namespace reweave::core

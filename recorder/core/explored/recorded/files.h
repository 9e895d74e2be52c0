// The open files of the recording: what each recorded call's descriptor referred to when the call was made. A
// descriptor of an explored run refers to one of them too, possibly under another number.
//
// The fork server indexes them; each run continues with a copy.
#pragma once

#include "recorder/core/explored/recorded/calls.h"

namespace reweave::core {

// The source of the bytes that reads return.
enum class Source : std::uint8_t { kRecorded, kRandom, kZeros, kEmpty };

// One open file (open(2): "open file description").
struct RecordedFile {
  std::uint32_t inputs, last_input;  // its list of RecordedCall
  std::uint32_t outputs;             // recorded writes to it
  std::uint32_t outputs_made;        // writes of this run
  std::uint32_t contents;            // of a regular file (recorded/contents.h), or kNothing
  std::int64_t position;             // in its contents: of the recorded run during indexing, then of this run
  std::int64_t begins_at;            // `position` at the start of the runs
  Source source;
  bool appends;
  bool datagrams;       // a read takes a whole message
  bool refuses_writes;  // a recorded write failed, as it would again
  bool changes_mapped;  // a recorded write changed a file that is mapped
  std::int32_t flags;   // O_ flags, if only this run opened it; else -1
};

// Makes room at `memory` for what `calls` calls can open; returns the address after it. Negative: an error.
long prepare_recorded_files(std::uint64_t memory, std::uint64_t calls);

RecordedFile& recorded_file(std::uint32_t file);
std::uint32_t recorded_file_count();
// A new open file with the same contents as `file`. kNothing: there are too many.
std::uint32_t copy_recorded_file(std::uint32_t file);
// A new open file with contents of its own, which are empty yet; for runs. kNothing: there are too many.
std::uint32_t add_file(std::uint64_t device, std::uint64_t inode, std::uint32_t mode, long flags);
// The same for a device; the source of a device with that name, kRecorded if it is not a known one.
std::uint32_t add_device(Source source, long flags);
Source source_of_device(const char* name);
// Returns the file to which the descriptor referred at the start of the runs, if the recorded run used it; else
// kNothing.
std::uint32_t file_at_start(long fd);
// True if a recorded call had this descriptor, or created it.
bool is_recorded_descriptor(long fd);

// Returns the index of the descriptor among the arguments of calls with that number; -1 if they have none.
int descriptor_argument(long number);

// Indexing, before the start of the runs: the process has executed a program, so it is no longer known what is open.
void forget_recorded_files(std::uint16_t process);
// Indexing: all calls before the start of the runs have been indexed, and `process` begins the runs. What is open stays
// open, at its position; what has been read and written is past.
void begin_at_departure(std::uint16_t process);
// Indexing: the recorded run created a process, which has the descriptors of its creator.
void inherit_recorded_files(std::uint16_t from, std::uint16_t to);
// The end of indexing.
void forget_recorded_tables();

// Indexing, in the order of the recording: the file of `call`, whose record is `record`, and the call's effects.
// `index`: the call's, or kNothing for a call before the start of the runs.
void index_file_use(RecordedCall& call, std::uint32_t index, const wire::SyscallRecord& record);

}  // namespace reweave::core

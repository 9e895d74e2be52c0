// The open files of the recording: what each recorded call's descriptor led to when the call was made. A descriptor of
// an explored run leads to one of them too, under whatever number.
//
// They are indexed by the fork server; each run goes on with a copy.
#pragma once

#include "recorder/core/explored/recorded_calls.h"

namespace reweave::core {

// What reads give without end.
enum class Source : std::uint8_t { kRecorded, kRandom, kZeros, kEmpty };

// One open file (open(2): "open file description").
struct RecordedFile {
  std::uint32_t inputs, last_input;  // its list of RecordedCall
  std::uint32_t outputs;             // recorded writes to it
  std::uint32_t outputs_made;        // writes of this run
  std::uint32_t contents;            // of a regular file (recorded_contents.h), or kNothing
  std::int64_t position;             // in its contents: while it is indexed the recorded run's, then this run's
  Source source;
  bool appends;
  bool datagrams;       // a read takes a whole message
  bool refuses_writes;  // some recorded write failed, as it would again
  bool changes_mapped;  // some recorded write changed a file that is mapped
};

// Makes room for what `calls` calls can open, at `memory`; returns the address behind. Negative: there is none.
long prepare_recorded_files(std::uint64_t memory, std::uint64_t calls);

RecordedFile& recorded_file(std::uint32_t file);
std::uint32_t recorded_file_count();
// A further open file of what `file` has open. kNothing: there are too many.
std::uint32_t copy_recorded_file(std::uint32_t file);
// What the descriptor led to where the runs begin, if the recorded run used it; else kNothing.
std::uint32_t file_at_start(long fd);
// Some recorded call had this descriptor, or made it.
bool is_recorded_descriptor(long fd);

// The argument of calls of that number that is a descriptor which tells what they are about; -1: there is none.
int descriptor_argument(long number);

// Indexing: a process of the recorded run has been made, and has the descriptors of the one that made it.
void inherit_recorded_files(std::uint16_t from, std::uint16_t to);
// The end of that.
void forget_recorded_tables();

// Indexing, in the order of the recording: what `call`, the record of which is `record`, is about and has done.
void index_file_use(RecordedCall& call, std::uint32_t index, const wire::SyscallRecord& record);

}  // namespace reweave::core

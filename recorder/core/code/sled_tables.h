// The objects in memory that have a table of sleds.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/sled_format.h"

namespace reweave::core {

struct SledObject {
  std::uint64_t headers;            // address of its ELF header; 0: a free entry
  std::uint64_t note;               // address of its SledNote
  std::uint64_t stubs, stub_bytes;  // its code in the stub area; 0: none yet
  bool armed;
};

// The table of an object.
struct SledTable {
  std::uint64_t start, end;
};

// The object that the code at `start`, just mapped, belongs to, if it has a table. Stops the run if there are too many.
SledObject* admit_sled_object(std::uint64_t start);
// The address of the note in the object whose ELF header is at `headers`; 0 if it has none.
std::uint64_t find_sled_note(std::uint64_t headers);

// The entries in use are the first `sled_object_count()`.
SledObject& sled_object(std::uint32_t i);
std::uint32_t sled_object_count();

// True if the loader has mapped the last segment of the object, and so all of it.
bool is_mapped_whole(const SledObject& object);

// Empty if the object is not in memory any more.
SledTable table_of(const SledObject& object);

// The end of the entry, which is where the next one begins; 0 if it is damaged.
std::uint64_t end_of_entry(const SledTable& table, std::uint64_t entry);

// Calls use(entry) for each entry of the table.
template <typename Use>
void for_each_sled(const SledTable& table, Use use) {
  for (std::uint64_t at = table.start; at < table.end;) {
    const std::uint64_t end = end_of_entry(table, at);
    if (end == 0) return;
    use(*reinterpret_cast<const SledEntry*>(at));
    at = end;
  }
}

}  // namespace reweave::core

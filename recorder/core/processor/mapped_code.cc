#include "recorder/core/processor/mapped_code.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/sleds.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"
#include "recorder/core/code/vector_saves.h"
#include "recorder/core/code/vsyscalls.h"
#include "recorder/core/log/log.h"
#include "recorder/core/processor/input_traps.h"
#include "recorder/core/processor/random_instructions.h"
#include "recorder/core/processor/searched_code.h"
#include "recorder/core/processor/segment_bases.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kAround = 64;         // bytes on each side of a place that may be examined
constexpr std::uint32_t kMostFound = 4096;    // with more, nothing is logged and a replay searches again
std::uint32_t found[kMostFound];              // offsets
constexpr std::uint8_t kVsyscallByte = 0xff;  // the second of the pair

// True if the instruction at `at` was replaced, or would have to be on another machine.
bool replace_at(std::uint64_t start, std::uint64_t at, std::uint64_t end, MappedBy by) {
  const bool is_executed = by == MappedBy::kLoader;
  switch (code_at(at)[1]) {
    case kVsyscallByte:
      return redirect_vsyscall(at, end);
    case 0xc7:
      return trap_random_instruction(at) || (is_executed && remember_vector_save(at));
    case 0xae:
      return trap_gs_base(at) || (is_executed && remember_vector_save(at));
    default:
      return is_executed && trap_input(start, at, end);
  }
}

// `name` identifies the code if the loader mapped it (searched_code.h); else 0.
void look_for_all(std::uint64_t start, std::uint64_t end, MappedBy by, std::uint64_t name) {
  std::uint32_t count = 0;
  const auto use = [&](std::uint64_t at) {
    const bool is_replaced = replace_at(start, at, end, by);
    if (is_replaced && count < kMostFound) found[count] = static_cast<std::uint32_t>(at - start);
    count += is_replaced ? 1 : 0;
    return is_replaced || code_at(at)[1] == kVsyscallByte;  // a redirection may have failed for lack of a stub
  };
  for_each_rare_pair(name, start, start + kAround, end - kAround, use, [] { return !is_trapped_full(); });
  if (replaying() || count > kMostFound || end - start > ~std::uint32_t{0}) return;
  RecordWriter record(wire::RecordKind::kMapCode, self().id, sizeof(wire::MapCodeRecord), count * sizeof found[0]);
  auto& body = record.body<wire::MapCodeRecord>();
  body.start = start;
  body.count = count;
  body.reserved = 0;
  record.append(found, count * sizeof found[0]);
  record.commit();
}

// Replay: the record of the places found in the code at `start`; null if there is none.
const wire::MapCodeRecord* next_record(std::uint64_t start) {
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapCode)) return nullptr;
  const auto& record = wire::record_cast<wire::MapCodeRecord>(*header);
  const bool sound = header->bytes >= sizeof record && record.count <= kMostFound &&
                     record.count * sizeof found[0] <= header->bytes - sizeof record;
  if (!sound || header->thread != self().id || record.start != start) diverged("mapped code", header);
  return &record;
}

void replace_recorded(const wire::MapCodeRecord& record, std::uint64_t end) {
  const std::uint64_t start = record.start;
  const auto* offsets = reinterpret_cast<const std::uint32_t*>(&record + 1);
  for (std::uint32_t i = 0; i < record.count; i++) {
    const std::uint64_t at = start + offsets[i];
    if (at < start + kAround || at >= end - kAround || find_rare_pair(at, at + 1) != at)
      diverged("mapped other code", &record.header);
    replace_at(start, at, end, MappedBy::kLoader);  // the record exists only for such places
  }
  consume_record();
}

}  // namespace

void take_mapped_code(std::uint64_t start, std::uint64_t end, MappedBy by, const FileIdentity& file,
                      std::uint64_t offset) {
  note_sleds(start);
  const Region* region = code_region(start);
  if (region == nullptr || end > region->end || end - start < 2 * kAround) return;
  forget_trapped(start, end);
  const wire::MapCodeRecord* record = replaying() ? next_record(start) : nullptr;
  const std::uint64_t name = by == MappedBy::kLoader ? name_of_code(file, offset, end - start) : 0;
  record != nullptr ? replace_recorded(*record, end) : look_for_all(start, end, by, name);
  replace_trapped(start, end);
  replace_vector_saves();
}

}  // namespace reweave::core

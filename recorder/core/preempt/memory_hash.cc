#include "recorder/core/preempt/memory_hash.h"

#include <sys/mman.h>

#include "recorder/core/log/checksum.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/instant.h"
#include "recorder/core/signals/protection_keys.h"

namespace reweave::core {

bool is_hashed(const Region& region, HashedMemory which) {
  if ((region.prot & (PROT_WRITE | PROT_READ)) != (PROT_WRITE | PROT_READ) || region.guarded) return false;
  if (which == HashedMemory::kPrivate) return !region.shared;
  const bool of_tree = region.stand_in == 0 && region.file_end == kNoFile;
  return (region.prot & PROT_EXEC) == 0 && (!region.shared || of_tree);
}

namespace {

constexpr std::uint64_t kPageWords = kPage / 8;

bool is_zero(const std::uint64_t* page) {
  std::uint64_t some = 0;
#pragma GCC unroll 8
  for (std::uint64_t i = 0; i < kPageWords; i++) some |= page[i];
  return some == 0;
}

// In four lanes, because each product depends on the one before.
std::uint64_t hash_page(const std::uint64_t* page) {
  std::uint64_t lanes[4] = {0, 1, 2, 3};
  for (std::uint64_t i = 0; i < kPageWords; i += 4)
    for (std::uint64_t lane = 0; lane < 4; lane++) lanes[lane] = mix(lanes[lane], page[i + lane]);
  return mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3]));
}

// Most of a stack is untouched: pages of zeros are not hashed.
std::uint64_t hash_unless_zero(const std::uint64_t* page) { return is_zero(page) ? 0 : hash_page(page); }

// Words left out of the hashes, by page.
class LeftOut {
 public:
  void add(std::uint64_t address) {
    const std::uint64_t at = page_down(address), word = (address - at) / 8;
    std::uint32_t i = index_of(at);
    if (i == kMostPages) return;
    if (i == count_) pages_[count_++] = {at, {}};
    pages_[i].words[word / 64] |= std::uint64_t{1} << word % 64;
    lowest_ = at < lowest_ ? at : lowest_;
    highest_ = at > highest_ ? at : highest_;
  }
  std::uint64_t hash(std::uint64_t at) const {
    const auto* page = reinterpret_cast<const std::uint64_t*>(at);
    const std::uint32_t i = at < lowest_ || at > highest_ ? count_ : index_of(at);
    if (i == count_) return hash_unless_zero(page);
    std::uint64_t counting[kPageWords];
    for (std::uint64_t word = 0; word < kPageWords; word++)
      counting[word] = (pages_[i].words[word / 64] >> word % 64 & 1) != 0 ? 0 : page[word];
    return hash_unless_zero(counting);
  }

 private:
  static constexpr std::uint32_t kMostPages = 64;
  struct Page {
    std::uint64_t at;
    std::uint64_t words[kPageWords / 64];
  };
  // count_ if it is none of them.
  std::uint32_t index_of(std::uint64_t at) const {
    std::uint32_t i = 0;
    while (i < count_ && pages_[i].at != at) i++;
    return i;
  }

  std::uint32_t count_ = 0;
  std::uint64_t lowest_ = ~std::uint64_t{0}, highest_ = 0;
  Page pages_[kMostPages] = {};
};
constinit LeftOut left_out;

constexpr PageMark mark_of(std::uint64_t hash) {
  const auto mark = static_cast<PageMark>(hash >> 48);
  return hash != 0 && mark == 0 ? 1 : mark;
}

// End of the threads' stacks in `region`, including those of ended threads; 0 if it has none. The C library keeps a
// thread's descriptor, which contains the robust list, at the top of the thread's stack, except for the first thread.
std::uint64_t end_of_stacks(const Region& region) {
  if (kStackTop - 1 >= region.start && kStackTop - 1 < region.end) return region.end;
  const RuntimeState& s = state();
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < s.thread_count; i++) {
    const Thread& thread = s.threads[i];
    const std::uint64_t top = page_up(thread.robust_list);
    if (top <= end || top <= region.start || top > region.end) continue;
    if (thread.tid != s.processes[thread.process].pid) end = top;
  }
  return end;
}

// Calls `use(address of the page, whether it is part of a stack)` until that returns false.
template <typename Use>
void for_each_page(HashedMemory which, const Use& use) {
  const AllRights to_look;
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if (!is_hashed(region, which)) continue;
    const std::uint64_t stacks = end_of_stacks(region);
    for (std::uint64_t at = region.start; at < region.accessible_end(); at += kPage)
      if (!is_shim(at) && !use(at, at < stacks)) return;
  }
}

}  // namespace

void leave_out_of_hashes(std::uint64_t address) { left_out.add(address); }

PageMark page_mark(std::uint64_t at) {
  const AllRights to_look;
  return mark_of(left_out.hash(at));
}

MemoryHash hash_memory(HashedMemory which, PageMark* marks) {
  MemoryHash hash = {};
  for_each_page(which, [&](std::uint64_t at, bool is_stack) {
    const std::uint64_t of_page = left_out.hash(at);
    if (of_page != 0) hash.all = mix(mix(hash.all, at), of_page);
    if (of_page != 0 && !is_stack) hash.but_stacks = mix(mix(hash.but_stacks, at), of_page);
    if (marks != nullptr) marks[hash.pages] = mark_of(of_page);
    hash.pages++;
    return true;
  });
  hash.all |= 1;
  return hash;
}

OtherPage find_other_page(HashedMemory which, PageMarks marks, bool but_stacks) {
  OtherPage found = {0, 0};
  const PageMark* mark = marks.begin;
  for_each_page(which, [&](std::uint64_t at, bool is_stack) {
    if (mark == marks.end) return false;
    const bool ignored = is_stack && but_stacks;
    if (!ignored && mark_of(left_out.hash(at)) != *mark) found = {at, static_cast<std::uint64_t>(mark - marks.begin)};
    mark++;
    return found.at == 0;
  });
  return found;
}

}  // namespace reweave::core

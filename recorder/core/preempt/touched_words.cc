#include "recorder/core/preempt/touched_words.h"

#include "recorder/core/log/checksum.h"
#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kWordsOfWrite = 5;  // the most that one instruction writes, if unaligned

bool is_dead(std::uint64_t address, std::uint64_t sp, const Region* stack) {
  return stack != nullptr && address >= stack->start && address < sp - kRedZone;
}

}  // namespace

void TouchedWords::note_write(std::uint64_t address) {
  std::uint64_t word = address & ~std::uint64_t{7};
  const std::uint64_t page_end = page_down(address) + kPage;
  for (std::uint64_t i = 0; i < kWordsOfWrite && word < page_end; i++, word += 8) note(word, i == 0);
}

// Notes a word before it is written. If it is new, it has not been written since the iteration began, so it still has
// its value at the start of the iteration.
void TouchedWords::note(std::uint64_t address, bool first) {
  for (std::uint32_t i = 0; i < count_; i++) {
    if (words_[i].address != address) continue;
    words_[i].first = words_[i].first || first;
    return;
  }
  if (count_ < kMax)
    words_[count_++] = {address, word_at(address), first, false};
  else
    too_many_ = true;
}

void TouchedWords::begin_turn() {
  for (std::uint32_t i = 0; i < count_; i++) {
    words_[i].value = word_at(words_[i].address);
    words_[i].varies = false;
  }
}

void TouchedWords::note_turn() {
  for (std::uint32_t i = 0; i < count_; i++) {
    const std::uint64_t value = word_at(words_[i].address);
    words_[i].varies = words_[i].varies || value != words_[i].value;
    words_[i].value = value;
  }
}

std::uint64_t TouchedWords::hash() const {
  std::uint64_t hash = count_;
  for (std::uint32_t i = 0; i < count_; i++) hash = mix(hash, word_at(words_[i].address));
  return hash | 1;
}

void TouchedWords::add_to(LoopChanges& changes) const {
  if (too_many_ || count_ > LoopChanges::kMaxWords) changes.known = false;
  if (!changes.known) return;
  for (std::uint32_t i = 0; i < count_; i++) changes.words[changes.count++] = words_[i].address;
}

LoopChanges TouchedWords::telling(std::uint64_t sp) const {
  LoopChanges changes = {};
  const Region* stack = region_at(sp);
  for (const bool varies : {true, false})
    for (std::uint32_t i = 0; i < count_ && changes.count < LoopChanges::kMaxWords; i++)
      if (words_[i].varies == varies && (varies || words_[i].first) && !is_dead(words_[i].address, sp, stack))
        changes.words[changes.count++] = words_[i].address;
  return changes;
}

}  // namespace reweave::core

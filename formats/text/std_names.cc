#include "formats/text/std_names.h"

#include <algorithm>
#include <functional>

#include "formats/text/std_words.h"

namespace reweave {
namespace {

constexpr std::uint64_t kVariables = 0x10000000000, kLocks = 0x20000000000;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::uint32_t StdNames::Table::add(std::string_view name) {
  if (names_.size() * 2 >= slots_.size()) grow();
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].number != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == hash && names_[slots_[at].number - 1] == name) return slots_[at].number - 1;
  }
  names_.emplace_back(name);
  slots_[at] = {hash, static_cast<std::uint32_t>(names_.size())};
  return slots_[at].number - 1;
}

void StdNames::Table::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number == 0) continue;
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::string StdNames::Table::name_at(std::uint64_t base, std::uint64_t address) const {
  if (address < base || (address - base) % kNamedBytes != 0) return "";
  const std::uint64_t number = (address - base) / kNamedBytes;
  return number < names_.size() ? names_[number] : "";
}

std::uint64_t StdNames::variable_address(std::string_view name) {
  return kVariables + variables_.add(name) * kNamedBytes;
}
std::uint64_t StdNames::lock_address(std::string_view name) { return kLocks + locks_.add(name) * kNamedBytes; }

ThreadId StdNames::thread(std::string_view name) {
  if (!all_digits(name)) return static_cast<ThreadId>(threads_.add(name));
  return static_cast<ThreadId>(threads_.add(std::string("T").append(name)));
}

void StdNames::put_in_process(ThreadId thread, std::string_view process) {
  if (thread >= processes_.size()) processes_.resize(thread + std::size_t{1});
  processes_[thread] = static_cast<std::uint16_t>(process_names_.add(process) + 1);
}

std::string StdNames::name_of(std::uint64_t address) const {
  const std::uint64_t start = address - address % kNamedBytes;
  const std::string name = lock_at(start);
  return name.empty() ? variable_at(start) : name;
}

std::string StdNames::variable_at(std::uint64_t address) const { return variables_.name_at(kVariables, address); }
std::string StdNames::lock_at(std::uint64_t address) const { return locks_.name_at(kLocks, address); }

}  // namespace reweave

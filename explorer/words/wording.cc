#include "explorer/words/wording.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <regex>
#include <string_view>

#include "explorer/words/memory_stacks.h"

namespace reweave {

namespace {

// The verb for each OpKind.
constexpr const char* kVerbs[] = {"starts",
                                  "accesses",
                                  "accesses",
                                  "locks",
                                  "unlocks",
                                  "waits on",
                                  "notifies",
                                  "waits for",
                                  "waits at",
                                  "creates a thread",
                                  "joins a thread",
                                  "yields",
                                  "makes a system call",
                                  "ends",
                                  "frees"};
static_assert(std::size(kVerbs) == static_cast<std::size_t>(OpKind::kOther) + 1);

// By SemaphoreUse and LockMode.
constexpr const char* kSemaphoreVerbs[] = {"waits for", "posts", "uses"};
constexpr const char* kLockVerbs[] = {"locks", "locks for reading", "tries to lock"};

template <std::size_t kCount>
const char* verb_by_detail(const char* const (&verbs)[kCount], const ChoiceNote& note) {
  return verbs[note.detail < kCount ? note.detail : 0];
}

bool names_object(const ChoiceNote& note) {
  const OpKind kind = kind_of(note);
  return note.object != 0 && kind != OpKind::kSyscall && kind != OpKind::kCreate && kind != OpKind::kJoin &&
         kind != OpKind::kYield && kind != OpKind::kExit && kind != OpKind::kStart;
}

}  // namespace

const char* verb_of(const ChoiceNote& note) {
  const OpKind kind = kind_of(note);
  const bool memory = kind == OpKind::kAccess || kind == OpKind::kAtomic;
  if (memory && note.object == 0) return "comes to reweave::point()";
  if (memory) return note.is_write != 0 ? "writes" : "reads";
  if (kind == OpKind::kSemaphore) return verb_by_detail(kSemaphoreVerbs, note);
  if (kind == OpKind::kLock) return verb_by_detail(kLockVerbs, note);
  return note.kind < std::size(kVerbs) ? kVerbs[note.kind] : "executes";
}

std::string operation_text(const ChoiceNote& note, Places& places) {
  if (note.pc == 0) return verb_of(note);
  std::string text = verb_of(note);
  if (const std::string object = object_text(note, places); !object.empty()) text += " " + object;
  return text + " in " + places.code(note.pc);
}

std::string object_text(const ChoiceNote& note, Places& places) {
  if (!names_object(note)) return "";
  const bool descriptors =
      kind_of(note) == OpKind::kSemaphore && note.detail == static_cast<std::uint32_t>(SemaphoreUse::kDescriptors);
  return descriptors ? "the program's descriptors" : places.object(note.object);
}

namespace {

// Adds the object's name after "waits for a mutex": "waits for the mutex door".
void add_awaited(std::string& text, const std::string& name) {
  constexpr std::string_view kFor = " for a";
  const std::size_t at = text.rfind(kFor);
  const std::size_t space = at == text.npos ? text.npos : text.find(' ', at + kFor.size());
  if (space == text.npos || text.find('\n', at) != text.npos) {
    text += " at " + name;
    return;
  }
  text.replace(at, space - at, " for the");
  text += " " + name;
}

}  // namespace

std::string readable_outcome(const std::string& outcome, Places& places,
                             const std::map<std::uint64_t, std::string>& names) {
  static const std::regex kPlace("( at 0x([0-9a-f]{1,16}))?, pc 0x([0-9a-f]{1,16})");
  constexpr std::size_t kMostCharacters = 100'000;  // std::regex may recurse for each
  const bool is_error = memory_error_of(outcome).has_value();
  std::string text;
  auto rest = outcome.cbegin();
  for (std::smatch found; outcome.size() < kMostCharacters && std::regex_search(rest, outcome.cend(), found, kPlace);) {
    const std::uint64_t pc = std::stoull(found[3], nullptr, 16);
    const std::string code = places.code(pc);
    text.append(rest, found[0].first);
    if (found[1].matched) {
      const std::uint64_t object = std::stoull(found[2], nullptr, 16);
      const auto known = names.find(object);
      const std::string name = places.is_global(object) ? places.object(object)
                               : known != names.end()   ? known->second
                                                        : "";
      if (name.empty())
        text += fmt::format(" at {:#x}", object);
      else if (is_error)
        text += " of " + name;
      else
        add_awaited(text, name);
      if (name.find(' ') != name.npos) text += ',';
    }
    text += code.starts_with("0x") ? fmt::format(", pc {:#x}", pc) : " in " + code;
    rest = found[0].second;
  }
  return text.append(rest, outcome.cend());
}

}  // namespace reweave

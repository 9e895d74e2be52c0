#include "explorer/wording.h"

#include <iterator>

namespace reweave {

namespace {

// What a thread does, by OpKind.
constexpr const char* kVerbs[] = {"starts",
                                  "accesses",
                                  "accesses",
                                  "locks",
                                  "unlocks",
                                  "waits on",
                                  "notifies",
                                  "uses the semaphore",
                                  "enters the barrier",
                                  "creates a thread",
                                  "joins a thread",
                                  "yields",
                                  "makes a system call",
                                  "ends",
                                  "frees"};

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
  return note.kind < std::size(kVerbs) ? kVerbs[note.kind] : "executes";
}

std::string operation_text(const ChoiceNote& note, Places& places) {
  if (note.pc == 0) return verb_of(note);
  std::string text = verb_of(note);
  if (names_object(note)) text += " " + places.object(note.object);
  return text + " in " + places.code(note.pc);
}

std::string object_text(const ChoiceNote& note, Places& places) {
  return names_object(note) ? places.object(note.object) : "";
}

}  // namespace reweave

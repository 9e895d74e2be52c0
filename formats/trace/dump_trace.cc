#include "formats/trace/dump.h"

namespace reweave {
namespace {

constexpr const char* kKindNames[] = {
    "read",       "write",        "atomic-load", "atomic-store",  "atomic-rmw",    "fence",    "lock",     "unlock",
    "wait-begin", "wait-end",     "notify",      "barrier-enter", "barrier-leave", "sem-post", "sem-wait", "fork",
    "join",       "begin",        "end",         "branch",        "alloc",         "free",     "call",     "return",
    "syscall",    "lock-request", "stack",       "send",          "receive",       "hint"};
static_assert(std::size(kKindNames) == static_cast<std::size_t>(EventKind::kKindCount));

std::string place_of(const TraceReader& reader, std::uint32_t site) {
  const SiteLocation location = reader.site_location(site);
  if (location.module == kNoModule) return fmt::format("{:#x}", location.offset);
  return fmt::format("{}+{:#x}", escaped(reader.info().modules[location.module].path), location.offset);
}

// The calls of a stack, innermost first.
std::string stack_of(const TraceReader& reader, std::uint64_t stack, std::vector<std::string>& places) {
  std::string text = fmt::format("{}", stack);
  const auto& calls = reader.calls();
  for (std::uint64_t id = stack; id != 0 && id <= calls.size(); id = calls[id - 1].parent) {
    std::string& place = places[calls[id - 1].site];
    if (place.empty()) place = place_of(reader, calls[id - 1].site);
    text += " < " + place;
  }
  return text;
}

// Shows the events of a chunk that the options ask for.
void dump_chunk(const TraceReader& reader, const TraceChunk& chunk, std::FILE* out, DumpChoice& choice,
                std::vector<std::string>& places) {
  for (std::size_t i = 0; i < chunk.size() && !choice.is_done(); ++i) {
    const std::uint64_t index = chunk.first_event + i;
    if (!choice.take(index, chunk.thread[i])) continue;
    std::string& place = places[chunk.site[i]];
    if (place.empty()) place = place_of(reader, chunk.site[i]);
    if (chunk.kind[i] == EventKind::kStack) {
      fmt::print(out, "{} t{} stack {} at {}\n", index, chunk.thread[i], stack_of(reader, chunk.extra[i], places),
                 place);
      continue;
    }
    const std::string value = chunk.has_value[i] != 0 ? fmt::format(" value {:#x}", chunk.value[i]) : std::string();
    fmt::print(out, "{} t{} {} {:#x} extra {:#x} aux {}{} at {}\n", index, chunk.thread[i], name_of(chunk.kind[i]),
               chunk.address[i], chunk.extra[i], chunk.aux[i], value, place);
  }
}

}  // namespace

const char* name_of(EventKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kKindNames) ? kKindNames[index] : "unknown";
}

void dump_trace(TraceReader& reader, std::FILE* out, const DumpOptions& options) {
  std::vector<std::string> places(reader.info().sites);
  DumpChoice choice(options);
  TraceChunk chunk;
  while (!choice.is_done() && reader.next(chunk)) dump_chunk(reader, chunk, out, choice, places);
  if (reader.damage()) throw BadFile(*reader.damage());
  choice.check(reader.path());
}

}  // namespace reweave

// Writing of STD text.
#include <array>
#include <charconv>
#include <ostream>

#include "formats/std_format.h"
#include "formats/std_words.h"

namespace reweave {
namespace {

std::string hex(std::string_view prefix, std::uint64_t address) {
  std::array<char, 17> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  return std::string(prefix).append(digits.data(), end);
}

std::string known_name(std::uint64_t address, const StdWriteOptions& options) {
  return options.names != nullptr ? options.names->name_of(address) : "";
}

std::string thread_name(std::uint64_t t, const StdWriteOptions& options) {
  const bool named = options.names != nullptr && t < options.names->threads().size();
  return named ? options.names->threads()[t] : std::string("T").append(std::to_string(t));
}

std::string lock_name(std::uint64_t address, const StdWriteOptions& options) {
  const std::string name = known_name(address, options);
  return name.empty() ? hex(options.dialect == StdDialect::kField ? "L" : "@", address) : name;
}

std::string operand_text(const TraceEvent& event, const StdWord& row, const StdWriteOptions& options) {
  std::string name = known_name(event.address, options);
  if (options.dialect == StdDialect::kField && row.operand == Operand::kVariable) {
    return name.empty() ? hex("V", event.address) : name;
  }
  switch (row.operand) {
    case Operand::kVariable:
    case Operand::kMemory:
      return name.empty() ? hex("@", event.address) + "+" + std::to_string(event.extra) : name;
    case Operand::kAtomic:
      if (!name.empty()) return name;
      return hex("@", event.address) + "+" + std::to_string(event.extra) + "/" + std::to_string(event.aux);
    case Operand::kLock:
      // The field's dialect says a wait as release and acquisition of the mutex.
      if (event.kind == EventKind::kWaitBegin || event.kind == EventKind::kWaitEnd)
        return lock_name(event.extra, options);
      return lock_name(event.address, options);
    case Operand::kBlock:
      return lock_name(event.address, options);
    case Operand::kCondition:
      return lock_name(event.address, options) + "," + lock_name(event.extra, options);
    case Operand::kThread:
      return thread_name(event.extra, options);
    case Operand::kProcess:
    case Operand::kNothing:
    case Operand::kExit:
      break;
  }
  return "";
}

}  // namespace

void write_std_process(std::ostream& out, ThreadId thread, std::uint16_t process, const StdWriteOptions& options) {
  if (options.dialect == StdDialect::kFull) {
    out << thread_name(thread, options) << "|process(P" << process << ")|0\n";
  }
}

bool write_std(std::ostream& out, const TraceEvent& event, std::uint32_t site, const StdWriteOptions& options) {
  const StdWord* row = std_word_for(event, options.dialect);
  if (row == nullptr) return false;
  const std::string operand = operand_text(event, *row, options);
  out << thread_name(event.thread, options) << '|' << row->word;
  if (!operand.empty()) out << '(' << operand << ')';
  out << '|' << site << '\n';
  return true;
}

}  // namespace reweave

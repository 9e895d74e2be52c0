// Writing of STD text.
#include <array>
#include <charconv>
#include <ostream>

#include "formats/text/std_format.h"
#include "formats/text/std_words.h"

namespace reweave {
namespace {

std::string hex(std::string_view prefix, std::uint64_t address) {
  std::array<char, 17> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  return std::string(prefix).append(digits.data(), end);
}

std::string thread_name(std::uint64_t t, const StdWriteOptions& options) {
  const bool named = options.names != nullptr && t < options.names->threads().size();
  return named ? options.names->threads()[t] : std::string("T").append(std::to_string(t));
}

std::string lock_name(std::uint64_t address, const StdWriteOptions& options) {
  const std::string name = options.names != nullptr ? options.names->lock_at(address) : "";
  return name.empty() ? hex(options.dialect == StdDialect::kField ? "L" : "@", address) : name;
}

std::string memory_text(const TraceEvent& event) { return hex("@", event.address) + "+" + std::to_string(event.extra); }

std::string operand_text(const TraceEvent& event, const StdWord& row, const StdWriteOptions& options) {
  const std::string name = options.names != nullptr ? options.names->variable_at(event.address) : "";
  const bool is_whole = !name.empty() && event.extra == kNamedBytes;
  if (options.dialect == StdDialect::kField && row.operand == Operand::kVariable) {
    return name.empty() ? hex("V", event.address) : name;
  }
  switch (row.operand) {
    case Operand::kVariable:
      return is_whole ? name : memory_text(event);
    case Operand::kAtomic: {
      const int order = event.aux & ~row.aux;
      if (is_whole && order == kNamedOrder) return name;
      return memory_text(event) + "/" + std::to_string(order);
    }
    case Operand::kMemory:
      return memory_text(event);
    case Operand::kBlock:
      return hex("@", event.address);
    case Operand::kLock:
      // The kField dialect writes a wait as release and acquisition of the mutex.
      if (event.kind == EventKind::kWaitBegin || event.kind == EventKind::kWaitEnd)
        return lock_name(event.extra, options);
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

// Reading of STD text.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <limits>

#include "formats/text/std_format.h"
#include "formats/text/std_order.h"
#include "formats/text/std_words.h"

namespace reweave {
namespace {

// A name that is an address: @hex[+bytes[/order]]. Absent parts leave their fields unchanged.
struct Exact {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint8_t order = kNamedOrder;

  // False if `name` is not an address.
  bool parse(std::string_view name) {
    if (name.empty() || name[0] != '@') return false;
    const char *at = name.data() + 1, *end = name.data() + name.size();
    if (!number(at, end, address, 16)) return false;
    if (at != end && *at == '+' && !number(++at, end, bytes, 10)) return false;
    std::uint64_t value = 0;
    if (at != end && *at == '/') {
      if (!number(++at, end, value, 10) || value > 5) return false;
      order = static_cast<std::uint8_t>(value);
    }
    return at == end;
  }

 private:
  static bool number(const char*& at, const char* end, std::uint64_t& value, int base) {
    const auto [stop, error] = std::from_chars(at, end, value, base);
    const bool good = error == std::errc{} && stop != at;
    at = stop;
    return good;
  }
};

// The longest access; a longer one is an error in the text.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

// The longest line; longer input is not text.
constexpr std::size_t kMostLine = 1u << 20;

// The next line, of number `number`; false at the end. std::getline would read a line of any length.
bool read_line(std::istream& in, std::size_t number, std::string& text) {
  text.clear();
  std::streambuf& from = *in.rdbuf();
  for (int c = from.sbumpc(); c != '\n'; c = from.sbumpc()) {
    if (c == std::char_traits<char>::eof()) return !text.empty();
    if (text.size() == kMostLine) throw StdFormatError(number, fmt::format("longer than {} bytes", kMostLine));
    text += static_cast<char>(c);
  }
  return true;
}

bool has_space(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; });
}

// Splits one line and reports errors in it.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : number_(number) {
    const auto first = text.find('|'), second = first == text.npos ? text.npos : text.find('|', first + 1);
    if (second == text.npos || text.find('|', second + 1) != text.npos) fail("expected thread|op|location");
    thread = text.substr(0, first);
    location = text.substr(second + 1);
    split_op(text.substr(first + 1, second - first - 1));
    if (thread.empty() || has_space(thread)) fail("bad thread name '" + std::string(thread) + "'");
  }

  const StdWord& row() const {
    const StdWord* row = std_word(word);
    if (row == nullptr) fail("unknown operation '" + std::string(word) + "'");
    return check_operand(*row);
  }

  std::uint32_t site() const {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(location.data(), location.data() + location.size(), value);
    if (error != std::errc{} || end != location.data() + location.size()) {
      fail("location '" + std::string(location) + "' is not a 32-bit number");
    }
    return value;
  }

  [[noreturn]] void fail(const std::string& reason) const { throw StdFormatError(number_, reason); }

  std::string_view thread, word, name, location;

 private:
  void split_op(std::string_view op) {
    word = op;
    const auto open = op.find('(');
    if (open == op.npos) return;
    if (op.back() != ')') fail("missing ')' in '" + std::string(op) + "'");
    word = op.substr(0, open);
    name = op.substr(open + 1, op.size() - open - 2);
    if (name.empty() || has_space(name)) fail("bad name in '" + std::string(op) + "'");
  }

  const StdWord& check_operand(const StdWord& row) const {
    const bool bare = row.operand == Operand::kNothing || row.operand == Operand::kExit;
    if (!bare && name.empty()) fail(fmt::format("'{}' needs a name", word));
    return row;
  }

  std::size_t number_;
};

// Fills in the fields that a line's operand gives.
class Operands {
 public:
  Operands(const Line& line, StdNames& names, TraceEvent& event) : line_(line), names_(names), event_(event) {}

  void read(const StdWord& row) {
    const std::string_view name = line_.name;
    switch (row.operand) {
      case Operand::kVariable:
      case Operand::kAtomic:
        return variable(name, row.operand == Operand::kAtomic);
      case Operand::kMemory:
        if (!exact_.parse(name) || exact_.bytes == 0) line_.fail(fmt::format("'{}' is not memory: @hex+bytes", name));
        return memory();
      case Operand::kBlock:
        if (!exact_.parse(name))
          line_.fail(fmt::format("'{}' is not an address: write @ and hexadecimal digits", name));
        event_.address = exact_.address;
        return;
      case Operand::kLock:
        event_.address = lock(name);
        return;
      case Operand::kCondition: {
        const auto comma = name.find(',');
        if (comma == name.npos || comma == 0 || comma + 1 == name.size())
          line_.fail(fmt::format("'{}' needs a condition and a mutex", line_.word));
        event_.address = lock(name.substr(0, comma));
        event_.extra = lock(name.substr(comma + 1));
        return;
      }
      case Operand::kThread:
        event_.extra = names_.thread(name);
        return;
      case Operand::kProcess:
        return names_.put_in_process(event_.thread, name);
      case Operand::kExit:
        event_.extra = kExitGroup;
        return;
      case Operand::kNothing:
        return;
    }
  }

 private:
  void variable(std::string_view name, bool atomic) {
    if (exact_.parse(name) && exact_.bytes != 0) {
      memory();
    } else {
      event_.address = names_.variable_address(name);
      event_.extra = kNamedBytes;
    }
    if (atomic) event_.aux = static_cast<std::uint8_t>(event_.aux | exact_.order);
  }
  void memory() {
    if (exact_.bytes > kMostBytes || exact_.address + exact_.bytes < exact_.address) {
      line_.fail(fmt::format("'{}' is more than there is memory", line_.name));
    }
    event_.address = exact_.address;
    event_.extra = exact_.bytes;
  }
  std::uint64_t lock(std::string_view name) {
    Exact exact;
    return exact.parse(name) && exact.bytes == 0 ? exact.address : names_.lock_address(name);
  }

  const Line& line_;
  StdNames& names_;
  TraceEvent& event_;
  Exact exact_;
};

}  // namespace

void read_std(std::istream& in, StdNames& names, const EventSink& sink) {
  StdOrder order(names);
  bool any = false;
  std::size_t number = 1;
  for (std::string text; read_line(in, number, text); ++number) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) continue;
    const Line line(text, number);
    const StdWord& row = line.row();
    const std::uint32_t site = line.site();
    TraceEvent event;
    event.kind = row.kind;
    event.aux = row.aux;
    event.thread = names.thread(line.thread);
    event.pc = site;
    Operands(line, names, event).read(row);
    if (names.threads().size() > std::numeric_limits<ThreadId>::max()) line.fail("more than 65535 threads");
    if (row.operand == Operand::kProcess) continue;
    any = true;
    order.check(event, number, line.name);
    sink(event, site);
  }
  if (!any) throw StdFormatError(number, "the text ends without an event");
}

}  // namespace reweave

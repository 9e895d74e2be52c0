#include "predictor/std_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <limits>
#include <ostream>
#include <string_view>

namespace reweave {
namespace {

constexpr std::uint64_t kVariables = 0x10000000000, kLocks = 0x20000000000;
constexpr std::uint64_t kBytes = 8;

enum class Operand { kVariable, kLock, kThread, kNothing };

struct OpRow {
  std::string_view word;
  EventKind kind;
  Operand operand;
};
// First row of a kind is what is written.
constexpr std::array<OpRow, 10> kOps{{
    {"r", EventKind::kRead, Operand::kVariable},
    {"w", EventKind::kWrite, Operand::kVariable},
    {"acq", EventKind::kLock, Operand::kLock},
    {"rel", EventKind::kUnlock, Operand::kLock},
    {"req", EventKind::kLockRequest, Operand::kLock},
    {"fork", EventKind::kFork, Operand::kThread},
    {"join", EventKind::kJoin, Operand::kThread},
    {"begin", EventKind::kBegin, Operand::kNothing},
    {"end", EventKind::kEnd, Operand::kNothing},
    {"br", EventKind::kBranch, Operand::kNothing},
}};

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool has_space(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; });
}

// Splits one line and names what is wrong with it.
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

  const OpRow& row() const {
    for (const OpRow& row : kOps) {
      if (row.word == word) return check_operand(row);
    }
    fail("unknown operation '" + std::string(word) + "'");
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

  const OpRow& check_operand(const OpRow& row) const {
    if (row.operand != Operand::kNothing && name.empty()) fail("'" + std::string(word) + "' needs a name");
    return row;
  }

  std::size_t number_;
};

std::string hex(char letter, std::uint64_t address) {
  std::array<char, 17> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  return letter + std::string(digits.data(), end);
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

std::uint64_t StdNames::variable_address(std::string_view name) { return kVariables + variables_.add(name) * kBytes; }
std::uint64_t StdNames::lock_address(std::string_view name) { return kLocks + locks_.add(name) * kBytes; }

ThreadId StdNames::thread(std::string_view name) {
  if (!all_digits(name)) return static_cast<ThreadId>(threads_.add(name));
  return static_cast<ThreadId>(threads_.add(std::string("T").append(name)));
}

std::string StdNames::name_of(std::uint64_t address) const {
  const auto find = [&](std::uint64_t base, const Table& table) {
    const std::uint64_t i = (address - base) / kBytes;
    return address >= base && i < table.names().size() ? table.names()[i] : std::string();
  };
  const std::string name = find(kLocks, locks_);
  return name.empty() ? find(kVariables, variables_) : name;
}

void read_std(std::istream& in, StdNames& names, const EventSink& sink) {
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) continue;
    const Line line(text, number);
    const OpRow& row = line.row();
    const std::uint32_t site = line.site();
    TraceEvent event;
    event.kind = row.kind;
    event.thread = names.thread(line.thread);
    event.pc = site;
    const std::string_view name = line.name;
    switch (row.operand) {
      case Operand::kVariable:
        event.address = names.variable_address(name);
        event.extra = kBytes;
        break;
      case Operand::kLock:
        event.address = names.lock_address(name);
        break;
      case Operand::kThread:
        event.extra = names.thread(name);
        break;
      case Operand::kNothing:
        break;
    }
    if (names.threads().size() > std::numeric_limits<ThreadId>::max()) line.fail("more than 65535 threads");
    sink(event, site);
  }
}

bool write_std(std::ostream& out, const TraceEvent& event, std::uint32_t site, const StdWriteOptions& options) {
  EventKind kind = event.kind;
  if (kind == EventKind::kAtomicLoad) kind = EventKind::kRead;
  if (kind == EventKind::kAtomicStore || kind == EventKind::kAtomicRmw) kind = EventKind::kWrite;
  if (kind == EventKind::kBranch && !options.branches) return false;
  const auto row = std::find_if(kOps.begin(), kOps.end(), [&](const OpRow& r) { return r.kind == kind; });
  if (row == kOps.end()) return false;
  const auto thread = [&](std::uint64_t t) {
    const bool named = options.names != nullptr && t < options.names->threads().size();
    return named ? options.names->threads()[t] : std::string("T").append(std::to_string(t));
  };
  std::string name = options.names != nullptr ? options.names->name_of(event.address) : "";
  if (name.empty()) name = hex(row->operand == Operand::kLock ? 'L' : 'V', event.address);
  if (row->operand == Operand::kThread) name = thread(event.extra);
  if (row->operand == Operand::kNothing) name.assign(1, '0');
  const bool bare = kind == EventKind::kBegin || kind == EventKind::kEnd;
  out << thread(event.thread) << '|' << row->word;
  if (!bare) out << '(' << name << ')';
  out << '|' << site << '\n';
  return true;
}

}  // namespace reweave

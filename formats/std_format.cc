#include "formats/std_format.h"

#include <fmt/core.h>

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

// The number of the system call that ends a process.
constexpr std::uint64_t kExitGroup = 231;

enum class Operand : std::uint8_t {
  kVariable,
  kAtomic,     // variable and memory order
  kMemory,     // bytes at an address
  kBlock,      // address of a heap block
  kLock,       // lock, condition, barrier or semaphore
  kCondition,  // condition and mutex
  kThread,
  kNothing,
  kExit,
};

struct OpRow {
  std::string_view word;
  EventKind kind;
  std::uint8_t aux;
  Operand operand;
  bool field;  // a word of the field's
};
constexpr std::uint8_t kShared = static_cast<std::uint8_t>(LockMode::kShared);
constexpr OpRow kOps[] = {
    {"r", EventKind::kRead, 0, Operand::kVariable, true},
    {"w", EventKind::kWrite, 0, Operand::kVariable, true},
    {"acq", EventKind::kLock, 0, Operand::kLock, true},
    {"rel", EventKind::kUnlock, 0, Operand::kLock, true},
    {"br", EventKind::kBranch, 0, Operand::kNothing, false},
    {"call", EventKind::kCall, 0, Operand::kNothing, false},
    {"ret", EventKind::kReturn, 0, Operand::kNothing, false},
    {"ar", EventKind::kAtomicLoad, 0, Operand::kAtomic, false},
    {"aw", EventKind::kAtomicStore, 0, Operand::kAtomic, false},
    {"au", EventKind::kAtomicRmw, 0, Operand::kAtomic, false},
    {"rp", EventKind::kRead, kNullValue, Operand::kVariable, false},
    {"wz", EventKind::kWrite, kNullValue, Operand::kVariable, false},
    {"acqs", EventKind::kLock, kShared, Operand::kLock, false},
    {"rels", EventKind::kUnlock, kShared, Operand::kLock, false},
    {"req", EventKind::kLockRequest, 0, Operand::kLock, false},
    {"reqs", EventKind::kLockRequest, kShared, Operand::kLock, false},
    {"fork", EventKind::kFork, 0, Operand::kThread, true},
    {"join", EventKind::kJoin, 0, Operand::kThread, true},
    {"begin", EventKind::kBegin, 0, Operand::kNothing, true},
    {"end", EventKind::kEnd, 0, Operand::kNothing, true},
    {"exit", EventKind::kSyscall, 0, Operand::kExit, false},
    {"wait", EventKind::kWaitBegin, 0, Operand::kCondition, false},
    {"woken", EventKind::kWaitEnd, 0, Operand::kCondition, false},
    {"timeout", EventKind::kWaitEnd, 1, Operand::kCondition, false},
    {"notify", EventKind::kNotify, 0, Operand::kLock, false},
    {"notifyAll", EventKind::kNotify, 1, Operand::kLock, false},
    {"enter", EventKind::kBarrierEnter, 0, Operand::kLock, false},
    {"leave", EventKind::kBarrierLeave, 0, Operand::kLock, false},
    {"post", EventKind::kSemPost, 0, Operand::kLock, false},
    {"take", EventKind::kSemWait, 0, Operand::kLock, false},
    {"alloc", EventKind::kAlloc, 0, Operand::kMemory, false},
    {"stack", EventKind::kAlloc, kThreadStack, Operand::kMemory, false},
    {"free", EventKind::kFree, 0, Operand::kBlock, false},
};

// Is `aux` what tells rows of the kind apart? The bits of it that do.
constexpr std::uint8_t told_by_aux(EventKind kind) {
  switch (kind) {
    case EventKind::kRead:
    case EventKind::kWrite:
      return kNullValue;
    case EventKind::kLock:
    case EventKind::kUnlock:
    case EventKind::kLockRequest:
    case EventKind::kWaitEnd:
    case EventKind::kNotify:
    case EventKind::kAlloc:
      return 1;
    default:
      return 0;
  }
}

const OpRow* row_of(const TraceEvent& event, StdDialect dialect) {
  EventKind kind = event.kind;
  auto aux = static_cast<std::uint8_t>(event.aux & told_by_aux(kind));
  if (dialect == StdDialect::kField) {
    aux = 0;
    if (kind == EventKind::kAtomicLoad) kind = EventKind::kRead;
    if (kind == EventKind::kAtomicStore || kind == EventKind::kAtomicRmw) kind = EventKind::kWrite;
    if (kind == EventKind::kWaitBegin) kind = EventKind::kUnlock;
    if (kind == EventKind::kWaitEnd) kind = EventKind::kLock;
  }
  const auto row = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpRow& r) {
    return r.kind == kind && r.aux == aux && (r.field || dialect == StdDialect::kFull);
  });
  const bool other_call = kind == EventKind::kSyscall && event.extra != kExitGroup;
  return row == std::end(kOps) || other_call ? nullptr : row;
}

// A name that is an address: @hex[+bytes[/order]]. What is not there stays as it was.
struct Exact {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint8_t order = 5;  // sequentially consistent

  // False if `name` is none.
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

// No access is longer: whatever copies more is a fault of the text.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

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
    const bool bare = row.operand == Operand::kNothing || row.operand == Operand::kExit;
    if (!bare && name.empty()) fail(fmt::format("'{}' needs a name", word));
    return row;
  }

  std::size_t number_;
};

std::string hex(std::string_view prefix, std::uint64_t address) {
  std::array<char, 17> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  return std::string(prefix).append(digits.data(), end);
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

namespace {

// Fills in what the operand of a line names.
class Operands {
 public:
  Operands(const Line& line, StdNames& names, TraceEvent& event) : line_(line), names_(names), event_(event) {}

  void read(const OpRow& row) {
    const std::string_view name = line_.name;
    switch (row.operand) {
      case Operand::kVariable:
      case Operand::kAtomic:
        return variable(name, row.operand == Operand::kAtomic);
      case Operand::kMemory:
        if (!exact_.parse(name) || exact_.bytes == 0) line_.fail(fmt::format("'{}' is not memory: @hex+bytes", name));
        return memory();
      case Operand::kBlock:
        if (!exact_.parse(name)) line_.fail(fmt::format("'{}' is not an address: @hex", name));
        event_.address = exact_.address;
        return;
      case Operand::kLock:
        event_.address = lock(name);
        return;
      case Operand::kCondition: {
        const auto comma = name.find(',');
        if (comma == name.npos) line_.fail(fmt::format("'{}' needs a condition and a mutex", line_.word));
        event_.address = lock(name.substr(0, comma));
        event_.extra = lock(name.substr(comma + 1));
        return;
      }
      case Operand::kThread:
        event_.extra = names_.thread(name);
        return;
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
      event_.extra = kBytes;
    }
    if (atomic) event_.aux = exact_.order;
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
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) continue;
    const Line line(text, number);
    const OpRow& row = line.row();
    const std::uint32_t site = line.site();
    TraceEvent event;
    event.kind = row.kind;
    event.aux = row.aux;
    event.thread = names.thread(line.thread);
    event.pc = site;
    Operands(line, names, event).read(row);
    if (names.threads().size() > std::numeric_limits<ThreadId>::max()) line.fail("more than 65535 threads");
    sink(event, site);
  }
}

namespace {

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

std::string operand_text(const TraceEvent& event, const OpRow& row, const StdWriteOptions& options) {
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
    case Operand::kNothing:
    case Operand::kExit:
      break;
  }
  return "";
}

}  // namespace

bool write_std(std::ostream& out, const TraceEvent& event, std::uint32_t site, const StdWriteOptions& options) {
  const OpRow* row = row_of(event, options.dialect);
  if (row == nullptr) return false;
  const std::string operand = operand_text(event, *row, options);
  out << thread_name(event.thread, options) << '|' << row->word;
  if (!operand.empty()) out << '(' << operand << ')';
  out << '|' << site << '\n';
  return true;
}

}  // namespace reweave

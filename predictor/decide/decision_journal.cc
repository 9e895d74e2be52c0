#include "predictor/decide/decision_journal.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "formats/base/error.h"
#include "formats/base/fd_stream.h"

namespace reweave {
namespace {

constexpr std::uint64_t kHashStart = 0xcbf29ce484222325, kHashFactor = 0x100000001b3;  // FNV-1a

class Hash {
 public:
  void add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) hash_ = (hash_ ^ (value >> 8 * i & 0xff)) * kHashFactor;
  }
  void add(const std::vector<EventIndex>& events) {
    add(events.size());
    for (EventIndex e : events) add(e);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = kHashStart;
};

std::string line_of(std::uint64_t key, const Decision& decision) {
  std::string line = fmt::format("{:x} {} {} {} {}", key, decision.checks, decision.costs[0], decision.costs[1],
                                 decision.feasible ? 1 : 0);
  if (decision.feasible) {
    const Witness& witness = decision.witness;
    line += fmt::format(" {} {} {} {}", *decision.feasible, witness.prefix(), witness.size(), witness.runs().size());
    for (const Witness::Run& run : witness.runs()) line += fmt::format(" {} {}", run.thread, run.count);
  }
  return line + " .\n";  // the dot distinguishes a whole line from a truncated one
}

std::optional<std::pair<std::uint64_t, Decision>> parse(const std::string& text) {
  std::istringstream in(text);
  std::uint64_t key = 0;
  Decision decision;
  int feasible = 0;
  in >> std::hex >> key >> std::dec >> decision.checks >> decision.costs[0] >> decision.costs[1] >> feasible;
  if (feasible != 0) {
    std::size_t instance = 0, size = 0, count = 0;
    EventIndex prefix = 0;
    in >> instance >> prefix >> size >> count;
    std::vector<Witness::Run> runs;
    for (std::size_t i = 0; i < count && in; ++i) {
      Witness::Run run{};
      in >> run.thread >> run.count;
      runs.push_back(run);
    }
    decision.feasible = instance;
    decision.witness = Witness(prefix, std::move(runs), size);
  }
  std::string end;
  in >> end;
  if (!in || end != ".") return std::nullopt;
  return std::pair{key, std::move(decision)};
}

}  // namespace

DecisionJournal::DecisionJournal(const Folder& folder, const std::string& name, std::uint64_t identity)
    : folder_(folder), name_(name) {
  const std::string head = fmt::format("reweave predict {} {:x}", REWEAVE_VERSION, identity);
  read(head);
  const std::string fresh = name_ + ".new";
  out_ = folder_.recreate_file(fresh);
  std::string text = head + "\n";
  for (const auto& [key, decision] : known_) text += line_of(key, decision);
  write_fully(out_.get(), text, folder_.path_of(name_));
  folder_.rename(fresh, name_);
}

void DecisionJournal::read(const std::string& head) {
  Fd file;
  try {
    file = folder_.open_file(name_);
  } catch (const BadInput&) {
    return;  // there is none, or the name is something else
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || status.st_uid != ::geteuid()) return;
  FdInput in(std::move(file));
  std::string line;
  if (!std::getline(in, line) || line != head) return;
  while (std::getline(in, line)) {
    auto decision = parse(line);
    if (!decision) return;
    known_.insert_or_assign(decision->first, std::move(decision->second));
  }
}

const Decision* DecisionJournal::find(std::uint64_t key) const {
  const auto it = known_.find(key);
  return it == known_.end() ? nullptr : &it->second;
}

void DecisionJournal::add(std::uint64_t key, const Decision& decision) {
  write_fully(out_.get(), line_of(key, decision), folder_.path_of(name_));
}

void DecisionJournal::remove() { folder_.remove(name_); }

std::uint64_t question_key(std::string_view analysis, ReadRule rule, bool keep_order, const Group& group) {
  Hash hash;
  for (char c : analysis) hash.add(static_cast<unsigned char>(c));
  for (char c : group.pattern) hash.add(static_cast<unsigned char>(c));
  hash.add(static_cast<std::uint64_t>(rule));
  hash.add(keep_order ? 1 : 0);
  for (const Instance& instance : group.instances) {
    hash.add(instance.events);
    hash.add(instance.query.sequence);
    hash.add(instance.query.stops);
    hash.add(instance.query.seen_by);
    hash.add(instance.query.seen);
  }
  return hash.value();
}

}  // namespace reweave

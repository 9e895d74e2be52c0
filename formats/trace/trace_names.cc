#include "formats/trace/trace_names.h"

#include "formats/base/message.h"
#include "formats/recording/manifest.h"

namespace reweave {
namespace {

constexpr std::uint32_t kMaxSpaces = 1u << 16;
constexpr std::uint64_t kMaxThreads = 1u << 16;
constexpr unsigned kSpawnKindCount = 4;
constexpr std::size_t kMaxPathBytes = 4096;

// True if the modules overlap and are different, so that one replaces the other. A module may be announced twice, by
// its mapping and by its name.
bool displaces(const ModuleInfo& a, const ModuleInfo& b) {
  return a.start < b.end && b.start < a.end && !(a.path == b.path && a.base == b.base);
}

}  // namespace

std::uint32_t TraceNamesWriter::space_of(ThreadId thread) const {
  const auto found = spaces_.find(thread);
  return found == spaces_.end() ? 0 : found->second;
}

std::uint32_t TraceNamesWriter::new_space() {
  REQUIRE(space_count_ < kMaxSpaces, "the program replaced its code too often to be traced");
  return space_count_++;
}

std::uint32_t TraceNamesWriter::site_of(ThreadId thread, std::uint64_t pc) {
  const std::uint32_t space = space_of(thread);
  const auto next = static_cast<std::uint32_t>(sites_.size());
  const auto [place, is_new] = site_ids_.try_emplace(std::uint64_t{space} << 48 | pc, next);
  if (is_new) {
    REQUIRE(next < kMaxSites, "more than {} code sites cannot be traced", kMaxSites);
    sites_.push_back({pc, space});
  }
  return place->second;
}

std::uint32_t TraceNamesWriter::stack_of(ThreadId thread, const std::vector<std::uint64_t>& callers) {
  std::uint32_t stack = 0;
  for (auto caller = callers.rbegin(); caller != callers.rend(); ++caller) {
    if (calls_.size() == kMaxCalls) return 0;
    const std::uint32_t site = site_of(thread, *caller);
    const auto next = static_cast<std::uint32_t>(calls_.size() + 1);
    const auto [place, is_new] = call_ids_.try_emplace(std::uint64_t{stack} << 32 | site, next);
    if (is_new) calls_.push_back({stack, site});
    stack = place->second;
  }
  return stack;
}

bool TraceNamesWriter::add_module(const wire::ModuleRecord& record, std::string path, std::string build_id) {
  if (record.start >= record.end) return false;
  const std::uint32_t space = space_of(record.header.thread);
  ModuleInfo added{std::move(path), std::move(build_id), record.base, record.start, record.end, space};
  bool displaced = false;
  for (const ModuleInfo& module : modules_) {
    if (module == added) return false;
    displaced |= module.space == space && displaces(module, added);
  }
  REQUIRE(modules_.size() < kMaxModules, "more than {} loaded modules cannot be traced", kMaxModules);
  if (displaced) {
    // The modules that stay are repeated in the new space, and all threads move to it.
    added.space = new_space();
    for (std::size_t i = 0, count = modules_.size(); i < count; ++i) {
      if (modules_[i].space != space || displaces(modules_[i], added)) continue;
      modules_.push_back(modules_[i]);
      modules_.back().space = added.space;
    }
    spaces_[record.header.thread] = added.space;
    for (auto& [thread, its_space] : spaces_)
      if (its_space == space) its_space = added.space;
  }
  modules_.push_back(std::move(added));
  return displaced;
}

void TraceNamesWriter::add_spawn(const wire::SpawnRecord& record) {
  REQUIRE(threads_.size() < kMaxThreads, "more than {} threads cannot be traced", kMaxThreads);
  threads_.push_back(
      {record.child, record.header.thread, record.process, static_cast<wire::SpawnKind>(record.kind), record.tid});
  const std::uint32_t space = space_of(record.header.thread);
  spaces_[record.child] = space;
}

bool TraceNamesWriter::add_exec(ThreadId thread) {
  // Before the first site the exec is the one that starts the program itself, and there are no names to distinguish.
  if (sites_.empty() && modules_.empty()) return false;
  spaces_[thread] = new_space();
  return true;
}

std::uint64_t TraceNamesWriter::write(BlockWriter& file) {
  capnp::MallocMessageBuilder message;
  auto names = message.initRoot<schema::TraceNames>();
  names.setFirstSite(static_cast<std::uint32_t>(sites_written_));
  names.setSiteCount(static_cast<std::uint32_t>(sites_.size() - sites_written_));
  ColumnWriter column;
  std::uint64_t last_pc = 0;
  for (; sites_written_ < sites_.size(); ++sites_written_) {
    const SiteInfo& site = sites_[sites_written_];
    column.put_varint(site.space);
    column.put_delta(site.pc, last_pc);
    last_pc = site.pc;
  }
  names.setSites(data_of(column.bytes()));
  auto modules = names.initModules(list_size(modules_.size() - modules_written_));
  for (auto to : modules) {
    const ModuleInfo& module = modules_[modules_written_++];
    to.setPath(module.path);
    to.setBuildId(module.build_id);
    to.setBase(module.base);
    to.setStart(module.start);
    to.setEnd(module.end);
    to.setSpace(module.space);
  }
  auto threads = names.initThreads(list_size(threads_.size() - threads_written_));
  for (auto to : threads) {
    const TraceThreadInfo& thread = threads_[threads_written_++];
    to.setId(thread.id);
    to.setParent(thread.parent);
    to.setProcess(thread.process);
    to.setKind(static_cast<std::uint8_t>(thread.kind));
    to.setTid(thread.tid);
  }
  write_calls(names);
  written_ = sites_written_ + modules_written_ + threads_written_ + calls_written_;
  return write_message(file, BlockType::kTraceNames, message);
}

void TraceNamesWriter::write_calls(schema::TraceNames::Builder names) {
  names.setFirstCall(static_cast<std::uint32_t>(calls_written_));
  names.setCallCount(static_cast<std::uint32_t>(calls_.size() - calls_written_));
  ColumnWriter column;
  for (; calls_written_ < calls_.size(); ++calls_written_) {
    column.put_varint(calls_[calls_written_].parent);
    column.put_varint(calls_[calls_written_].site);
  }
  names.setCalls(data_of(column.bytes()));
}

void TraceNames::read(schema::TraceNames::Reader from) {
  read_sites(from);
  read_calls(from);
  for (const auto module : checked_list(from.getModules())) {
    ModuleInfo info{string_of(module.getPath()),
                    string_of(module.getBuildId()),
                    module.getBase(),
                    module.getStart(),
                    module.getEnd(),
                    module.getSpace()};
    if (info.start >= info.end || info.space >= kMaxSpaces || info.build_id.size() > kMaxBuildIdDigits ||
        info.path.size() > kMaxPathBytes)
      throw Malformed("a module's values are out of their range");
    if (modules_.size() >= kMaxModules) throw Malformed("too many modules");
    modules_.push_back(std::move(info));
  }
  for (const auto thread : checked_list(from.getThreads())) {
    if (threads_.size() >= kMaxThreads) throw Malformed("too many threads");
    threads_.push_back({thread.getId(), thread.getParent(), thread.getProcess(),
                        checked_enum<wire::SpawnKind>(thread.getKind(), kSpawnKindCount, "spawn kind"),
                        thread.getTid()});
  }
}

void TraceNames::read_sites(schema::TraceNames::Reader from) {
  if (from.getFirstSite() != sites_.size()) throw Malformed("the sites do not continue those before");
  const std::uint32_t count = from.getSiteCount();
  ColumnReader column(bytes_of(from.getSites()));
  // Each site takes at least two bytes. Checking that keeps a small file from asking for a large table.
  if (count > kMaxSites - sites_.size() || count > column.remaining() / 2) throw Malformed("too many sites");
  sites_.reserve(sites_.size() + count);
  std::uint64_t pc = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto space = static_cast<std::uint32_t>(column.bounded(kMaxSpaces - 1));
    pc = column.delta(pc);
    sites_.push_back({pc, space});
  }
  column.expect_end();
}

void TraceNames::read_calls(schema::TraceNames::Reader from) {
  if (from.getFirstCall() != calls_.size()) throw Malformed("the calls do not continue those before");
  const std::uint32_t count = from.getCallCount();
  ColumnReader column(bytes_of(from.getCalls()));
  if (count > kMaxCalls - calls_.size() || count > column.remaining() / 2) throw Malformed("too many calls");
  if (count != 0 && sites_.empty()) throw Malformed("calls without sites");
  calls_.reserve(calls_.size() + count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto parent = static_cast<std::uint32_t>(column.bounded(calls_.size()));
    const auto site = static_cast<std::uint32_t>(column.bounded(sites_.size() - 1));
    calls_.push_back({parent, site});
  }
  column.expect_end();
}

SiteLocation TraceNames::locate(std::uint32_t id) const {
  const SiteInfo& place = site(id);
  for (std::uint32_t i = 0; i < modules_.size(); ++i) {
    const ModuleInfo& module = modules_[i];
    // If a module ends with a call, the return address is the module's end.
    if (module.space == place.space && module.start < place.pc && place.pc <= module.end)
      return {i, place.pc - module.base};
  }
  return {kNoModule, place.pc};
}

}  // namespace reweave

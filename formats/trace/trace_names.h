// Names in a trace: sites (places in code), the modules that give them meaning, threads. On disk: TraceNames blocks.
//
// A pc may mean different code at different times: a process may exec, or load another library at an address that was
// used before. So a site is (space, pc), where a *space* is a set of modules that do not overlap. A fork shares its
// parent's space; exec, and a module loaded over another one, start a new space.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/block_file.h"
#include "formats/trace/trace_encoder.h"
#include "formats/wire.h"

namespace reweave {

inline constexpr std::uint32_t kNoModule = ~0u;

struct ModuleInfo {
  std::string path;
  std::string build_id;  // hex, or empty
  std::uint64_t base = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t space = 0;

  bool operator==(const ModuleInfo&) const = default;
};

struct TraceThreadInfo {
  ThreadId id = 0;
  ThreadId parent = 0;
  std::uint16_t process = 0;
  wire::SpawnKind kind = wire::SpawnKind::kFirst;
  std::int64_t tid = 0;

  bool operator==(const TraceThreadInfo&) const = default;
};

// A place in code as the trace knows it.
struct SiteInfo {
  std::uint64_t pc = 0;
  std::uint32_t space = 0;
};

// A function that is being executed: a node of a tree whose paths to the root are call stacks. Ids count from 1, and 0
// is the empty stack.
struct CallInfo {
  std::uint32_t parent = 0;  // the call around it
  std::uint32_t site = 0;    // the return address of the call
};

// A place in code as other traces know it too: (module, virtual address in the module's file).
struct SiteLocation {
  std::uint32_t module = kNoModule;  // index in TraceInfo::modules, or kNoModule
  std::uint64_t offset = 0;          // pc itself if there is no module
};

// Collects names while a trace is written, and writes those that are new.
class TraceNamesWriter final : public SiteNumbering {
 public:
  std::uint32_t site_of(ThreadId thread, std::uint64_t pc) override;
  // The id of a call stack: return addresses, innermost first. 0 if there are too many.
  std::uint32_t stack_of(ThreadId thread, const std::vector<std::uint64_t>& callers);
  // add_module and add_exec return true if known pcs may have changed their meaning.
  bool add_module(const wire::ModuleRecord& record, std::string path, std::string build_id);
  void add_spawn(const wire::SpawnRecord& record);
  bool add_exec(ThreadId thread);

  bool has_new() const { return sites_.size() + modules_.size() + threads_.size() + calls_.size() != written_; }
  // Writes a TraceNames block with what is new; returns its offset.
  std::uint64_t write(BlockWriter& file);

 private:
  std::uint32_t space_of(ThreadId thread) const;
  std::uint32_t new_space();
  void write_calls(schema::TraceNames::Builder names);

  std::vector<SiteInfo> sites_;
  std::vector<CallInfo> calls_;
  std::vector<ModuleInfo> modules_;
  std::vector<TraceThreadInfo> threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_ids_;   // space << 48 | pc
  std::unordered_map<std::uint64_t, std::uint32_t> call_ids_;   // parent << 32 | site
  std::unordered_map<ThreadId, std::uint32_t> spaces_{{0, 0}};  // 0 if absent
  std::uint32_t space_count_ = 1;
  std::size_t sites_written_ = 0, modules_written_ = 0, threads_written_ = 0, calls_written_ = 0, written_ = 0;
};

// The names of a trace as read.
class TraceNames {
 public:
  // Adds a block's names. Throws Malformed.
  void read(schema::TraceNames::Reader from);

  const std::vector<ModuleInfo>& modules() const { return modules_; }
  const std::vector<TraceThreadInfo>& threads() const { return threads_; }
  std::uint32_t site_count() const { return static_cast<std::uint32_t>(sites_.size()); }
  const SiteInfo& site(std::uint32_t id) const { return sites_.at(id); }
  const std::vector<CallInfo>& calls() const { return calls_; }  // the first has id 1
  SiteLocation locate(std::uint32_t id) const;

 private:
  void read_sites(schema::TraceNames::Reader from);
  void read_calls(schema::TraceNames::Reader from);

  std::vector<SiteInfo> sites_;
  std::vector<CallInfo> calls_;
  std::vector<ModuleInfo> modules_;
  std::vector<TraceThreadInfo> threads_;
};

}  // namespace reweave

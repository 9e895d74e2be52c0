#include "formats/trace/traceinfo.h"

namespace reweave {
namespace {

using nlohmann::json;

json json_of(const ProcessInfo& process) {
  return {{"index", process.index},
          {"parent", process.parent},
          {"pid", process.pid},
          {"program", process.program},
          {"wait_status", process.wait_status == kStillRuns ? json() : json(process.wait_status)}};
}

json json_of(const MappedFile& file) {
  return {
      {"path", file.path},   {"size", file.size},         {"ctime_ns", file.ctime_ns},    {"device", file.device},
      {"inode", file.inode}, {"build_id", file.build_id}, {"content", file.content_hash}, {"stored", file.stored_name}};
}

json json_of(const DebugFile& file) { return {{"build_id", file.build_id}, {"stored", file.stored_name}}; }

json json_of(const ModuleInfo& module) {
  return {{"path", module.path},   {"build_id", module.build_id}, {"base", module.base},
          {"start", module.start}, {"end", module.end},           {"space", module.space}};
}

json json_of(const TraceThreadInfo& thread) {
  return {{"id", thread.id}, {"parent", thread.parent}, {"process", thread.process}, {"tid", thread.tid}};
}

template <typename Item>
json list_of(const std::vector<Item>& items) {
  json list = json::array();
  for (const Item& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

json recording_info(const RecordingReader& reader) {
  const Manifest& manifest = reader.manifest();
  json result = {{"type", "recording"},
                 {"path", reader.path()},
                 {"tool_version", manifest.tool_version},
                 {"complete", reader.is_whole()},
                 {"command", manifest.command_line},
                 {"environment", manifest.environment},
                 {"directory", manifest.working_directory},
                 {"start_time_ns", manifest.start_time_ns},
                 {"kernel", manifest.host_kernel},
                 {"cpu", manifest.cpu_model},
                 {"seed", manifest.seed},
                 {"chaos", manifest.chaos},
                 {"policy", manifest.policy},
                 {"checksums", manifest.checksums},
                 {"wait_status", manifest.wait_status},
                 {"outcome", name_of(manifest.outcome)},
                 {"outcome_detail", manifest.outcome_detail},
                 {"outcome_text", manifest.outcome_text},
                 {"events", manifest.events_total},
                 {"parent", manifest.parent},
                 {"processes", list_of(manifest.processes)},
                 {"files", list_of(manifest.files)},
                 {"debug_files", list_of(manifest.debug_files)}};
  if (!reader.is_whole()) result["damage"] = "the recording has no end: it was truncated, or is still being made";
  return result;
}

json trace_info(const TraceReader& reader) {
  const TraceInfo& info = reader.info();
  json result = {{"type", "trace"},
                 {"path", reader.path()},
                 {"tool_version", info.header.tool_version},
                 {"command", info.header.command_line},
                 {"source", info.header.source},
                 {"complete", info.complete},
                 {"events", info.events},
                 {"sites", info.sites},
                 {"thread_count", info.thread_count},
                 {"modules", list_of(info.modules)},
                 {"threads", list_of(info.threads)}};
  if (reader.damage()) result["damage"] = reader.damage()->what();
  return result;
}

}  // namespace reweave

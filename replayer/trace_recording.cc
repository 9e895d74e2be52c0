#include "replayer/trace_recording.h"

#include <filesystem>

namespace reweave {

namespace {

// Removes the trace if the replay fails.
ReplayResult replay_to(TraceWriter& writer, const std::string& recording, const std::string& output,
                       const std::function<void(std::uint64_t)>& progress) {
  ReplayOptions options;
  options.discard_output = true;
  options.trace = &writer;
  options.on_progress = progress;
  try {
    return replay_recording(recording, options);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    throw;
  }
}

}  // namespace

TracedReplay trace_recording(const std::string& recording, const std::string& output,
                             const std::function<void(std::uint64_t)>& progress) {
  const RecordingReader reader(recording);
  TraceWriter writer(output,
                     {REWEAVE_VERSION, reader.manifest().command_line, std::filesystem::absolute(recording).string()});
  TracedReplay traced;
  traced.result = replay_to(writer, recording, output, progress);
  if (traced.result.text.empty() && !traced.result.missing.empty()) {
    traced.result.outcome = wire::OutcomeKind::kTruncated;
    traced.result.text = traced.result.missing;
  }
  const wire::OutcomeKind outcome = traced.result.outcome;
  traced.whole = outcome != wire::OutcomeKind::kDiverged && outcome != wire::OutcomeKind::kUnsupported &&
                 outcome != wire::OutcomeKind::kTruncated;
  if (traced.whole)
    writer.finish();
  else
    writer.flush();
  traced.events = writer.events();
  traced.bytes = writer.bytes_written();
  return traced;
}

}  // namespace reweave

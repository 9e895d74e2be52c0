#include "replayer/trace_recording.h"

#include <filesystem>

namespace reweave {

TracedReplay trace_recording(const std::string& recording, const std::string& output) {
  const RecordingReader reader(recording);
  TraceWriter writer(output,
                     {REWEAVE_VERSION, reader.manifest().command_line, std::filesystem::absolute(recording).string()});
  ReplayOptions options;
  options.discard_output = true;
  options.trace = &writer;
  TracedReplay traced;
  traced.result = replay_recording(recording, options);
  const wire::OutcomeKind outcome = traced.result.outcome;
  traced.whole = outcome != wire::OutcomeKind::kDiverged && outcome != wire::OutcomeKind::kUnsupported;
  if (traced.whole)
    writer.finish();
  else
    writer.flush();
  traced.events = writer.events();
  traced.bytes = writer.bytes_written();
  return traced;
}

}  // namespace reweave

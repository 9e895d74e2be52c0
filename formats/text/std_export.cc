#include "formats/text/std_export.h"

#include "formats/code/access_code.h"
#include "formats/code/read_effects.h"
#include "formats/trace/process_addresses.h"

namespace reweave {

std::uint64_t export_std(const TraceReader& trace, std::ostream& out, StdDialect dialect) {
  const ProcessAddresses addresses(trace);
  AccessCode code(trace);
  const ReadEffects effects(trace);
  const StdWriteOptions options{dialect, nullptr};
  std::uint64_t lines = 0;
  const auto& processes = addresses.processes();
  for (std::size_t t = 0; t < processes.size(); ++t) {
    if (processes[t] != 0) write_std_process(out, static_cast<ThreadId>(t), processes[t], options);
  }
  TraceChunk chunk;
  for (std::size_t c = 0; c < trace.chunk_count(); ++c) {
    trace.read_chunk(c, chunk);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      TraceEvent event = addresses.told_apart(chunk.event(i, 0));
      event.aux |= code_bits(code, effects, chunk.site[i], event.kind, event.extra);
      lines += write_std(out, event, chunk.site[i], options) ? 1 : 0;
    }
  }
  return lines;
}

}  // namespace reweave

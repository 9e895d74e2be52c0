#include "replayer/pack_command.h"

#include <fmt/core.h>

#include <memory>

#include "formats/base/counted.h"
#include "formats/base/sandbox.h"
#include "formats/recording/recording_reader.h"
#include "recorder/supervisor/record/recordings.h"
#include "replayer/pack.h"

namespace reweave {

namespace {

struct PackArguments {
  std::string recording;
  bool debug_info = false;
};

void pack(const PackArguments& arguments) {
  const std::string path = recording_to_read(arguments.recording);
  const RecordingReader reader(path);
  give_up_writing({&reader.folder()}, arguments.debug_info);
  const PackResult result = pack_recording(path, arguments.debug_info);
  fmt::print("{}: {}, {} of debug information, {} bytes; {} new\n", path, counted(result.files, "file"),
             result.debug_files, result.bytes, result.added);
  reader.require_whole();
}

}  // namespace

void add_pack_command(CLI::App& app) {
  auto arguments = std::make_shared<PackArguments>();
  CLI::App* verb = app.add_subcommand("pack", "put all files that the program mapped into its recording");
  verb->footer(
      "A packed recording replays on machines that lack the recorded files: programs, libraries, the loader. Replay "
      "it\n"
      "with the build of Reweave that recorded it. Packing again adds missing files.");
  verb->add_option("recording", arguments->recording, "the recording; default: the latest");
  verb->add_flag("--debuginfo", arguments->debug_info,
                 "also separate debug information that this machine has, for gdb and reports");
  verb->callback([arguments] { pack(*arguments); });
}

}  // namespace reweave

#include "replayer/debugger.h"
namespace reweave {
void debug_process(pid_t, const std::string&, const std::string&) {}
}  // namespace reweave

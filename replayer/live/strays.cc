#include "replayer/live/strays.h"

#include <map>

namespace reweave {

namespace {

std::map<pid_t, int> strays;

}  // namespace

void add_stray(pid_t lwp, int status) { strays[lwp] = status; }

std::optional<int> take_stray(pid_t lwp) {
  const auto found = strays.find(lwp);
  if (found == strays.end()) return {};
  const int status = found->second;
  strays.erase(found);
  return status;
}

}  // namespace reweave

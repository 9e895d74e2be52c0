#include "recorder/supervisor/target/processor_claim.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/fd.h"

namespace reweave {

namespace {

constexpr int kMostRounds = 64;  // runs on each processor

// A claim is a socket with an abstract name (unix(7)), which the kernel removes however its owner ends. False: another
// process has it. Leaves `claim` invalid on systems without such sockets.
bool claim_name(const std::string& name, Fd& claim) {
  claim = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!claim.valid()) return true;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(claim.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 || errno != EADDRINUSE;
}

std::vector<std::uint32_t> list_of(const cpu_set_t& allowed) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed)) list.push_back(cpu);
  return list;
}

struct Claim {
  std::uint32_t cpu;
  Fd socket;
};

// Choosing by process ID spreads runs over the processors even if other runs' claims are invisible, as in another
// container.
Claim claim_one(const std::vector<std::uint32_t>& cpus) {
  const auto start = static_cast<std::size_t>(getpid());
  for (int round = 0; round < kMostRounds; round++)
    for (std::size_t i = 0; i < cpus.size(); i++) {
      Claim claim = {cpus[(start + i) % cpus.size()], Fd()};
      if (claim_name(fmt::format("reweave/processor/{}/{}", claim.cpu, round), claim.socket)) return claim;
    }
  return {cpus[start % cpus.size()], Fd()};
}

// Empty if this process has made no claim.
std::optional<Claim> own_claim;

}  // namespace

std::uint32_t claim_processor(const cpu_set_t& allowed) {
  const std::vector<std::uint32_t> cpus = list_of(allowed);
  if (cpus.empty()) return 0;
  if (!own_claim || !CPU_ISSET(own_claim->cpu, &allowed)) own_claim = claim_one(cpus);
  return own_claim->cpu;
}

void give_up_processor() { own_claim.reset(); }

}  // namespace reweave

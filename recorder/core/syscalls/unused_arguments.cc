#include "recorder/core/syscalls/unused_arguments.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/membarrier.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include <cstdint>

namespace reweave::core {

namespace {

constexpr std::uint64_t kTemporaryFile = 020000000;  // O_TMPFILE without O_DIRECTORY

enum class When : std::uint8_t {
  kIs,           // the low 32 bits of the deciding argument are the value
  kIsOperation,  // the same without the flags of futex(2)
  kLacks,        // the deciding argument has none of the value's bits
};

struct Unused {
  std::uint16_t number;
  std::uint8_t decides;
  When when;
  std::uint64_t value;
  std::uint8_t arguments;
};

#define UNUSED(number, decides, when, value, arguments) {number, decides, When::when, value, arguments},
constexpr Unused kUnused[] = {
#include "recorder/core/syscalls/unused_arguments.inc"
};
#undef UNUSED

bool holds(const Unused& row, std::uint64_t argument) {
  switch (row.when) {
    case When::kIs:
      return static_cast<std::uint32_t>(argument) == row.value;
    case When::kIsOperation:
      return (argument & static_cast<std::uint32_t>(FUTEX_CMD_MASK)) == row.value;
    case When::kLacks:
      return (argument & row.value) == 0;
  }
  return false;
}

}  // namespace

bool is_unused(long number, const long (&arguments)[6], int index) {
  for (const Unused& row : kUnused) {
    if (row.number != number || (row.arguments >> index & 1) == 0) continue;
    if (holds(row, static_cast<std::uint64_t>(arguments[row.decides]))) return true;
  }
  return false;
}

}  // namespace reweave::core

#include "recorder/core/syscalls/outputs.h"

#include <sys/syscall.h>

#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

std::uint64_t bit_set_bytes(std::uint64_t count) { return (count - 1 + 63) / 64 * 8; }

// A call that failed with EFAULT may have written to such a buffer. A fully mapped buffer may have been replaced by
// scratch, so that the kernel wrote nothing to it.
bool is_partly_there(std::uint64_t address, std::uint64_t bytes) { return !is_there(address, bytes); }

// The parts of a vector that were filled before the kernel met unmapped memory.
std::uint32_t vector_until_fault(const IoVector* vector, long count, Output* to, std::uint32_t n) {
  for (long i = 0; i < count && n < kMaxOutputs; i++) {
    to[n++] = {vector[i].base, vector[i].bytes};
    if (is_partly_there(vector[i].base, vector[i].bytes)) break;
  }
  return n;
}

// Appends the memory that the call wrote according to `out` to `to`.
std::uint32_t gather(const Call& call, const Out& out, const Before& before, int slot, long result, Output* to,
                     std::uint32_t n) {
  const auto address = static_cast<std::uint64_t>(call.logged[out.arg]);
  if (address == 0 && out.kind != OutKind::kSocket) return n;
  const auto count = static_cast<std::uint64_t>(call.logged[out.count]);
  const auto left = static_cast<std::uint64_t>(result);
  switch (out.kind) {
    case OutKind::kFixed:
      to[n++] = {address, out.size};
      break;
    case OutKind::kInOutFixed:  // the kernel does not write the remaining time to read-only memory
      if (is_writable(address)) to[n++] = {address, bytes_there(address, out.size)};
      break;
    case OutKind::kByResult:
      // The result may be the size of all that is available (recv with MSG_TRUNC, getgroups).
      if (result > 0) to[n++] = {address, (left < count ? left : count) * out.size};
      // recvfrom: the data was stored, but not the sender's address.
      if (result == -EFAULT && (is_partly_there(address, count * out.size) || tells_sender(*call.row)))
        to[n++] = {address, count * out.size};
      break;
    case OutKind::kByCount:
    case OutKind::kInOutCount:
      to[n++] = {address, count * out.size};
      break;
    case OutKind::kByPage:
      to[n++] = {address, (count + 4095) / 4096};
      break;
    case OutKind::kMessage:
      if (!is_error(result)) to[n++] = {address, sizeof(long) + static_cast<std::uint64_t>(result)};
      if (result == -EFAULT) to[n++] = {address, sizeof(long) + count};
      break;
    case OutKind::kBits:
      if (count > 1) to[n++] = {address, bit_set_bytes(count)};
      break;
    case OutKind::kSocket: {
      if (!is_there(count, 4)) break;
      const std::uint32_t now = *reinterpret_cast<const std::uint32_t*>(count);
      const std::uint32_t room = before.socket_room[slot];
      to[n++] = {address,
                 bytes_there(address, now < room ? now : room)};  // netlink reports more than there is room for
      to[n++] = {count, 4};
      break;
    }
    case OutKind::kVector:
      if (before.vector != nullptr && result == -EFAULT)
        return vector_until_fault(before.vector, call.logged[out.count], to, n);
      if (before.vector != nullptr && !is_error(result))
        return vector_outputs(before.vector, call.logged[out.count], result, to, n);
      break;
    default:
      break;
  }
  return n;
}

// A copy of the program's vector, if the call writes through it.
const IoVector* keep_vector(const Call& call, const Out& out) {
  const auto address = static_cast<std::uint64_t>(call.args[out.arg]);
  const auto count = static_cast<std::uint64_t>(call.args[out.count]);
  if ((call.row->flags & kWritesStream) != 0 || count > kMostVectors) return nullptr;
  if (!is_there(address, count * sizeof(IoVector))) return nullptr;
  auto* kept = reinterpret_cast<IoVector*>(kept_vector(call));
  memcpy(kept, reinterpret_cast<const void*>(address), count * sizeof(IoVector));
  return kept;
}

bool writes_outputs(const Call& call, long result) {
  const std::uint64_t flags = call.row->flags;
  if (result == -EFAULT) return true;  // the kernel may have written what precedes the unmapped memory
  if ((flags & kWritesIfInterrupted) != 0) return result == -EINTR;
  if ((flags & kWritesIfPositive) != 0) return result > 0;
  return result != kNotStarted && (!is_error(result) || (flags & kWritesOnError) != 0);
}

}  // namespace

std::uint32_t vector_outputs(const IoVector* vector, long count, long result, Output* to, std::uint32_t n) {
  auto left = static_cast<std::uint64_t>(result);
  for (long i = 0; i < count && left > 0 && n < kMaxOutputs; i++) {
    const std::uint64_t bytes = vector[i].bytes < left ? vector[i].bytes : left;
    if (bytes != 0) to[n++] = {vector[i].base, bytes};
    left -= bytes;
  }
  return n;
}

Before look_before(const Call& call) {
  Before before = {};
  for (int slot = 0; slot < 4 && call.row->outs[slot].kind != OutKind::kNone; slot++) {
    const Out& out = call.row->outs[slot];
    if (out.kind == OutKind::kVector) before.vector = keep_vector(call, out);
    if (out.kind == OutKind::kSocket && is_there(static_cast<std::uint64_t>(call.args[out.count]), 4))
      before.socket_room[slot] = *reinterpret_cast<const std::uint32_t*>(call.args[out.count]);
  }
  return before;
}

std::uint32_t gather_outputs(const Call& call, const Before& before, long result, Output* outputs) {
  std::uint32_t n = 0;
  if (!writes_outputs(call, result)) return 0;
  for (int slot = 0; slot < 4 && call.row->outs[slot].kind != OutKind::kNone; slot++)
    n = gather(call, call.row->outs[slot], before, slot, result, outputs, n);
  // Memory that the kernel could not write may be unmapped or read-only.
  for (std::uint32_t i = 0; is_error(result) && i < n; i++)
    outputs[i].bytes = bytes_writable(outputs[i].address, outputs[i].bytes);
  return n;
}

}  // namespace reweave::core

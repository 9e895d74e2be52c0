#include "recorder/core/syscalls/scratch_arguments.h"

#include <sys/syscall.h>

#include "recorder/core/syscalls/outputs.h"
#include "recorder/core/syscalls/scratch.h"

namespace reweave::core {

ScratchArguments::ScratchArguments(Call& call) : call_(call), next_(scratch_of(call.me)), end_(kept_vector(call)) {
  for (const Out& out : call.row->outs) substitute(out);
}

void ScratchArguments::copy_back(const Output* list, std::uint32_t count) const {
  for (std::uint32_t i = 0; i < count; i++)
    for (std::uint32_t m = 0; m < moves_; m++) copy_part(move_[m], list[i]);
}

void ScratchArguments::copy_part(const Move& move, const Output& output) {
  if (output.address < move.original || output.address >= move.original + move.bytes) return;
  const std::uint64_t offset = output.address - move.original;
  const std::uint64_t bytes = output.bytes < move.bytes - offset ? output.bytes : move.bytes - offset;
  memcpy(reinterpret_cast<void*>(output.address), reinterpret_cast<void*>(move.scratch + offset), bytes);
}

std::uint64_t ScratchArguments::place(std::uint64_t original, std::uint64_t bytes, bool read_by_kernel) {
  if (original == 0 || bytes == 0 || bytes > end_ - next_ || moves_ == kMaxMoves || !is_there(original, bytes))
    return original;
  const std::uint64_t scratch = next_;
  next_ += round_to(bytes, 64);
  if (read_by_kernel) memcpy(reinterpret_cast<void*>(scratch), reinterpret_cast<void*>(original), bytes);
  move_[moves_++] = {original, scratch, bytes};
  return scratch;
}

std::uint64_t ScratchArguments::place_vector(std::uint64_t address, std::uint64_t count) {
  const std::uint64_t bytes = count * sizeof(IoVector);
  if (count > kMostVectors || bytes > end_ - next_ || !is_there(address, bytes)) return address;
  auto* copy = reinterpret_cast<IoVector*>(next_);
  memcpy(copy, reinterpret_cast<void*>(address), bytes);
  next_ += round_to(bytes, 64);
  const bool input = (call_.row->flags & kWritesStream) != 0;
  for (std::uint64_t i = 0; i < count; i++) copy[i].base = place(copy[i].base, copy[i].bytes, input);
  return reinterpret_cast<std::uint64_t>(copy);
}

void ScratchArguments::substitute(const Out& out) {
  long& arg = call_.args[out.arg];
  const auto address = static_cast<std::uint64_t>(arg);
  const auto count = static_cast<std::uint64_t>(call_.args[out.count]);
  std::uint64_t to = address;
  switch (out.kind) {
    case OutKind::kFixed:  // the kernel may write only a part, as in waitid if there is no child yet
    case OutKind::kInOutFixed:
      to = place(address, out.size, true);
      break;
    case OutKind::kByResult:
    case OutKind::kByCount:  // recvfrom may fail after it has written an unknown part
      to = place(address, count * out.size, tells_sender(*call_.row) && call_.args[4] != 0);
      break;
    case OutKind::kInOutCount:
      to = place(address, count * out.size, true);
      break;
    case OutKind::kIn:
      to = place(address, count, true);
      break;
    case OutKind::kMessage:
      to = place(address, count + sizeof(long), false);
      break;
    case OutKind::kVector:
      to = place_vector(address, count);
      break;
    case OutKind::kSocket:
      if (address == 0 || !is_there(count, 4)) return;
      to = place(address, *reinterpret_cast<const std::uint32_t*>(count), false);
      call_.args[out.count] = static_cast<long>(place(count, 4, true));
      break;
    default:
      return;
  }
  arg = static_cast<long>(to);
}

}  // namespace reweave::core

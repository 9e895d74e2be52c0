#include "recorder/core/code/stubs.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kReach = std::uint64_t{1} << 31;  // of a jump

std::uint64_t area_used[kStubAreaCount];  // bytes
bool area_mapped[kStubAreaCount];

StubArea area_at(std::uint32_t area) { return stub_areas(program_slot()).areas[area]; }

bool within_reach(std::uint64_t address, const StubArea& area) {
  const std::uint64_t farthest = address > area.start ? address - area.start : area.start + area.bytes - address;
  return farthest < kReach - kPage;
}

std::uint64_t left_in(std::uint32_t area) { return area_at(area).bytes - area_used[area]; }

bool map_area(std::uint32_t area) {
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const StubArea wanted = area_at(area);
  if (!area_mapped[area])
    area_mapped[area] = !is_error(sys(SYS_mmap, wanted.start, wanted.bytes, PROT_READ | PROT_EXEC, kHow, -1, 0));
  return area_mapped[area];
}

}  // namespace

std::uint64_t stub_room(std::uint64_t address) {
  std::uint64_t room = 0;
  for (std::uint32_t area = 0; area < kStubAreaCount; area++)
    if (within_reach(address, area_at(area)) && left_in(area) > room) room = left_in(area);
  return room;
}

std::uint64_t target_of(std::uint64_t distance_at) {
  std::int32_t distance;
  memcpy(&distance, code_at(distance_at), sizeof distance);
  return distance_at + sizeof distance + static_cast<std::uint64_t>(std::int64_t{distance});
}

bool in_stub(std::uint64_t address) {
  for (std::uint32_t area = 0; area < kStubAreaCount; area++)
    if (area_mapped[area] && address - area_at(area).start < area_at(area).bytes) return true;
  return false;
}

std::uint64_t new_stub(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint32_t i = 0; i < kStubAreaCount; i++) {
    const StubArea area = area_at(i);
    if (!within_reach(address, area) || left_in(i) < bytes) continue;
    if (!map_area(i)) return 0;
    area_used[i] += bytes;
    return area.from_end ? area.start + area.bytes - area_used[i] : area.start + area_used[i] - bytes;
  }
  return 0;
}

bool write_jump(std::uint64_t from, std::uint64_t to, const std::uint8_t (&opcode)[1]) {
  const Writable code(from, kJumpBytes);
  if (code.done()) Assembler(from).put(opcode, to);
  return code.done();
}

bool jumps_to(std::uint64_t from, std::uint64_t to) {
  return (is_at(from, kJump) || is_at(from, kCall)) && target_of(from + sizeof kJump) == to;
}

Writable::Writable(std::uint64_t address, std::uint64_t bytes, int after)
    : start_(page_down(address)), bytes_(page_up(address + bytes) - start_), after_(after) {
  done_ = sys(SYS_mprotect, start_, bytes_, PROT_READ | PROT_WRITE) == 0;
}

Writable::~Writable() {
  if (done_) sys(SYS_mprotect, start_, bytes_, after_);
}

}  // namespace reweave::core

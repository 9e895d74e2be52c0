#include "recorder/core/preempt/code_trap.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/sys.h"
#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint8_t kInt3 = 0xcc;

std::uint32_t protection_of(std::uint64_t address) {
  const Region* region = region_at(address);
  return region == nullptr ? 0 : region->prot;
}

void protect(std::uint64_t address, std::uint32_t prot) { sys(SYS_mprotect, page_down(address), kPage, prot); }

void write(std::uint64_t address, std::uint8_t byte) { *reinterpret_cast<volatile std::uint8_t*>(address) = byte; }

}  // namespace

bool CodeTrap::plant(std::uint64_t at) {
  const std::uint32_t prot = protection_of(at);
  if ((prot & PROT_EXEC) == 0) return false;
  address = at;
  guarded = (prot & PROT_WRITE) != 0;
  protect(at, prot | PROT_READ | PROT_WRITE);
  set_again();
  return true;
}

void CodeTrap::remove() {
  if (address == 0) return;
  lift();
  protect(address, protection_of(address));
  *this = {};
}

void CodeTrap::lift() const {
  if (guarded) protect(address, protection_of(address));
  write(address, original);
}

void CodeTrap::set_again() {
  original = *reinterpret_cast<const volatile std::uint8_t*>(address);
  write(address, kInt3);
  if (guarded) protect(address, protection_of(address) & ~static_cast<std::uint32_t>(PROT_WRITE));
}

bool CodeTrap::guards(std::uint64_t at) const { return guarded && page_down(at) == page_down(address); }

}  // namespace reweave::core

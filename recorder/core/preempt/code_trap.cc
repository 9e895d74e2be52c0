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
  protect(at, prot | PROT_READ | PROT_WRITE);
  original = *reinterpret_cast<const volatile std::uint8_t*>(at);
  write(at, kInt3);
  return true;
}

void CodeTrap::remove() {
  if (address == 0) return;
  write(address, original);
  protect(address, protection_of(address));
  *this = {};
}

void CodeTrap::lift() const { write(address, original); }

void CodeTrap::set_again() const { write(address, kInt3); }

}  // namespace reweave::core

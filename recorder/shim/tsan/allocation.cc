// malloc and related functions in instrumented programs: the trace records blocks, and invalid uses can be detected.
// glibc's allocator does the work, under the names that it exports besides the interposable ones.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "recorder/shim/tsan/access.h"
#include "recorder/shim/tsan/allocation.h"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace reweave::shim {

namespace {

constexpr std::size_t kPage = 4096;

bool watching() { return config().detect_now != 0; }

std::uint8_t* shadow_of(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(kShadowBase + (address >> 4)); }

// Extra bytes allocated when watching; they must not be used.
constexpr std::size_t kRedZone = 32;
std::size_t padded(std::size_t bytes) { return watching() && bytes <= SIZE_MAX - kRedZone ? bytes + kRedZone : bytes; }

// Like glibc's malloc_usable_size, which this file redefines: the word before the block has the size of block and word,
// and in bit 1 whether it was mapped separately.
std::size_t usable_bytes(const void* block) {
  const std::size_t word = static_cast<const std::size_t*>(block)[-1];
  return (word & ~std::size_t{7}) - ((word & 2) != 0 ? 16 : 8);
}

// Freed blocks in order of release, poisoned until they leave.
constexpr std::uint32_t kQuarantineBlocks = 4096;
constexpr std::uint64_t kQuarantineBytes = 16 << 20;
struct Quarantine {
  void* blocks[kQuarantineBlocks];
  std::uint32_t first, count;
  std::uint64_t bytes;
};
Quarantine quarantine;

// Marks the usable part of a block, and the word after it, in which glibc keeps the size of the next block.
void mark(void* block, std::uint8_t value) {
  const auto start = address_of(block);
  const std::uint64_t granules = (usable_bytes(block) + 8) / 16;
  std::uint8_t* shadow = shadow_of(start);
  for (std::uint64_t i = 0; i < granules; i++) shadow[i] = value;
}

void release_oldest() {
  void* block = quarantine.blocks[quarantine.first];
  quarantine.first = (quarantine.first + 1) % kQuarantineBlocks;
  quarantine.count--;
  quarantine.bytes -= usable_bytes(block);
  mark(block, 0);
  __libc_free(block);
}

void quarantine_block(void* block) {
  mark(block, kFreed);
  while (quarantine.count == kQuarantineBlocks || (quarantine.count > 0 && quarantine.bytes > kQuarantineBytes))
    release_oldest();
  quarantine.blocks[(quarantine.first + quarantine.count) % kQuarantineBlocks] = block;
  quarantine.count++;
  quarantine.bytes += usable_bytes(block);
}

// Allows use of the first `bytes` of a block.
void allow(void* block, std::uint64_t bytes) {
  std::uint8_t* shadow = shadow_of(address_of(block));
  const std::uint64_t granules = (usable_bytes(block) + 8) / 16, whole = bytes / 16;
  for (std::uint64_t i = 0; i < granules; i++)
    shadow[i] = i < whole ? 0 : static_cast<std::uint8_t>(kPartial + (i == whole ? bytes % 16 : 0));
}

void* allocated(void* block, std::size_t bytes, std::uint64_t pc) {
  if (block != nullptr && watching()) allow(block, bytes);
  if (block != nullptr) note(EventKind::kAlloc, block, pc, 0, bytes);
  return block;
}

}  // namespace

void* allocate(std::size_t bytes, std::uint64_t pc) { return allocated(__libc_malloc(padded(bytes)), bytes, pc); }
void* allocate_aligned(std::size_t alignment, std::size_t bytes, std::uint64_t pc) {
  return allocated(__libc_memalign(alignment, padded(bytes)), bytes, pc);
}
void release(void* block, std::uint64_t pc) {
  if (block == nullptr) return;
  point(OpKind::kOther, block, pc, static_cast<std::uint32_t>(usable_bytes(block)));
  if (watching() && *shadow_of(address_of(block)) == kFreed) api().memory_error("double free", address_of(block), pc);
  note(EventKind::kFree, block, pc);
  if (watching()) return quarantine_block(block);
  __libc_free(block);
}

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT void* malloc(std::size_t bytes) { return allocate(bytes, REWEAVE_CALLER); }

REWEAVE_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocated(__libc_calloc(1, padded(total)), total, REWEAVE_CALLER);
}

// The program may use as much as this returns, so when watching it returns the requested size.
REWEAVE_EXPORT std::size_t malloc_usable_size(void* block) {
  if (block == nullptr) return 0;
  const std::size_t all = usable_bytes(block);
  if (!watching()) return all;
  const std::uint8_t* shadow = shadow_of(address_of(block));
  for (std::size_t bytes = 0; bytes < all; bytes += 16, shadow++)
    if (*shadow >= kPartial) return bytes + (*shadow - kPartial);
  return all;
}

// A block that moves is a new one: reading the old one is a use after free. When watching, it always moves; a trace
// must leave the heap as it was recorded.
REWEAVE_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr || !watching()) {
    if (block != nullptr) note(EventKind::kFree, block, REWEAVE_CALLER, kSamePoint);
    return allocated(__libc_realloc(block, block == nullptr ? padded(bytes) : bytes), bytes, REWEAVE_CALLER);
  }
  if (bytes == 0) {
    release(block, REWEAVE_CALLER);
    return nullptr;
  }
  void* fresh = allocate(bytes, REWEAVE_CALLER);
  if (fresh == nullptr) return nullptr;
  const std::size_t old = malloc_usable_size(block);
  __builtin_memcpy(fresh, block, old < bytes ? old : bytes);
  release(block, REWEAVE_CALLER);
  return fresh;
}

REWEAVE_EXPORT void free(void* block) { release(block, REWEAVE_CALLER); }

REWEAVE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  return allocate_aligned(alignment, bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocate_aligned(alignment, bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* block = allocate_aligned(alignment, bytes, REWEAVE_CALLER);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
REWEAVE_EXPORT void* valloc(std::size_t bytes) { return allocate_aligned(kPage, bytes, REWEAVE_CALLER); }
REWEAVE_EXPORT void* pvalloc(std::size_t bytes) {
  std::size_t whole = 0;
  if (__builtin_add_overflow(bytes, kPage - 1, &whole)) {
    errno = ENOMEM;
    return nullptr;
  }
  whole = whole / kPage * kPage;
  return allocate_aligned(kPage, whole, REWEAVE_CALLER);
}

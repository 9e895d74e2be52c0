// malloc and its kin in instrumented programs: the trace learns of blocks, and what must not be used can be watched.
// glibc's own allocator does the work, under the names that it exports beside the interposable ones.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "recorder/shim/tsan/access.h"

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

// So many more bytes are asked for when watching, and must not be used.
constexpr std::size_t kRedZone = 32;
std::size_t padded(std::size_t bytes) { return watching() && bytes <= SIZE_MAX - kRedZone ? bytes + kRedZone : bytes; }

// What glibc's malloc_usable_size says: its word before the block has the size of block and word, and in bit 1 whether
// it was mapped by itself. We define that function anew.
std::size_t usable_bytes(const void* block) {
  const std::size_t word = static_cast<const std::size_t*>(block)[-1];
  return (word & ~std::size_t{7}) - ((word & 2) != 0 ? 16 : 8);
}

// Freed blocks in the order of their release, poisoned until they leave.
constexpr std::uint32_t kQuarantineBlocks = 4096;
constexpr std::uint64_t kQuarantineBytes = 16 << 20;
struct Quarantine {
  void* blocks[kQuarantineBlocks];
  std::uint32_t first, count;
  std::uint64_t bytes;
};
Quarantine quarantine;

// Marks the part of a block that its user had. glibc keeps the size of the next block in the last word.
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

// Of the block's memory its user may have the first `bytes`.
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

void release(void* block, std::uint64_t pc) {
  if (block == nullptr) return;
  point(OpKind::kOther, block, pc, static_cast<std::uint32_t>(usable_bytes(block)));
  if (watching() && *shadow_of(address_of(block)) == kFreed) api().memory_error("double free", address_of(block), pc);
  note(EventKind::kFree, block, pc);
  if (watching()) return quarantine_block(block);
  __libc_free(block);
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT void* malloc(std::size_t bytes) {
  return allocated(__libc_malloc(padded(bytes)), bytes, REWEAVE_CALLER);
}

REWEAVE_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocated(__libc_calloc(1, padded(total)), total, REWEAVE_CALLER);
}

// The program may use all that this says, so when watching it says what was asked for.
REWEAVE_EXPORT std::size_t malloc_usable_size(void* block) {
  if (block == nullptr) return 0;
  const std::size_t all = usable_bytes(block);
  if (!watching()) return all;
  const std::uint8_t* shadow = shadow_of(address_of(block));
  for (std::size_t bytes = 0; bytes < all; bytes += 16, shadow++)
    if (*shadow >= kPartial) return bytes + (*shadow - kPartial);
  return all;
}

// A block that moves is a new one: what the program still reads of the old is a use after free. When watching it always
// moves; a trace must leave the heap as it was recorded.
REWEAVE_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr || !watching()) {
    if (block != nullptr) note(EventKind::kFree, block, REWEAVE_CALLER, kSamePoint);
    return allocated(__libc_realloc(block, block == nullptr ? padded(bytes) : bytes), bytes, REWEAVE_CALLER);
  }
  if (bytes == 0) {
    release(block, REWEAVE_CALLER);
    return nullptr;
  }
  void* fresh = allocated(__libc_malloc(padded(bytes)), bytes, REWEAVE_CALLER);
  if (fresh == nullptr) return nullptr;
  const std::size_t old = malloc_usable_size(block);
  __builtin_memcpy(fresh, block, old < bytes ? old : bytes);
  release(block, REWEAVE_CALLER);
  return fresh;
}

REWEAVE_EXPORT void free(void* block) { release(block, REWEAVE_CALLER); }

REWEAVE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  return allocated(__libc_memalign(alignment, padded(bytes)), bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocated(__libc_memalign(alignment, padded(bytes)), bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* block = allocated(__libc_memalign(alignment, padded(bytes)), bytes, REWEAVE_CALLER);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
REWEAVE_EXPORT void* valloc(std::size_t bytes) {
  return allocated(__libc_memalign(kPage, padded(bytes)), bytes, REWEAVE_CALLER);
}
REWEAVE_EXPORT void* pvalloc(std::size_t bytes) {
  std::size_t whole = 0;
  if (__builtin_add_overflow(bytes, kPage - 1, &whole)) {
    errno = ENOMEM;
    return nullptr;
  }
  whole = whole / kPage * kPage;
  return allocated(__libc_memalign(kPage, padded(whole)), whole, REWEAVE_CALLER);
}

#include "formats/file_identity.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "formats/error.h"
#include "formats/fd.h"
#include "formats/hex.h"

namespace reweave {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;
// Notes are tens of bytes; a larger segment is not one we look into.
constexpr std::uint64_t kMaxNoteBytes = 64 * 1024;
constexpr std::uint64_t kMaxDynamicBytes = 64 * 1024;
constexpr std::size_t kMaxProgramHeaders = 1024;
constexpr std::size_t kMaxBuildIdBytes = 64;

Fd open_for_reading(const std::string& path) {
  return Fd(SYSCALL_CHECK(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "{}", path));
}

bool read_exactly(int fd, std::uint64_t offset, void* into, std::size_t bytes) {
  return ::pread(fd, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The build-id among the notes in `notes`, in hex.
std::string find_build_id(const std::vector<unsigned char>& notes) {
  std::size_t offset = 0;
  while (notes.size() - offset >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + offset, sizeof note);
    offset += sizeof note;
    const std::size_t name = (std::size_t{note.n_namesz} + 3) & ~std::size_t{3};
    const std::size_t description = (std::size_t{note.n_descsz} + 3) & ~std::size_t{3};
    if (name > notes.size() - offset || description > notes.size() - offset - name) break;
    const unsigned char* data = notes.data() + offset + name;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kMaxBuildIdBytes &&
        std::memcmp(notes.data() + offset, "GNU", 4) == 0)
      return hex_digits(data, note.n_descsz);
    offset += name + description;
  }
  return {};
}

// The program headers of a 64-bit ELF file; none if it is something else.
std::vector<Elf64_Phdr> segments_in(int fd) {
  Elf64_Ehdr header;
  if (!read_exactly(fd, 0, &header, sizeof header)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxProgramHeaders) return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_exactly(fd, header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return {};
  return segments;
}

// Where in the file a virtual address is; 0 if it is not there.
std::uint64_t offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return 0;
}

// The text at `offset`, if it ends within 256 bytes.
std::string text_at(int fd, std::uint64_t offset) {
  char text[256];
  const ssize_t got = ::pread(fd, text, sizeof text, static_cast<off_t>(offset));
  if (got <= 0) return {};
  const std::size_t length = strnlen(text, static_cast<std::size_t>(got));
  return length == static_cast<std::size_t>(got) ? std::string() : std::string(text, length);
}

std::string build_id_in(int fd) {
  for (const Elf64_Phdr& segment : segments_in(fd)) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!read_exactly(fd, segment.p_offset, notes.data(), notes.size())) continue;
    std::string found = find_build_id(notes);
    if (!found.empty()) return found;
  }
  return {};
}

// Feeds the file's content to `use(bytes, count)`.
template <typename Use>
void for_each_piece(int fd, const std::string& path, Use&& use) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.get(), kBufferBytes);
    if (got < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(got, "{}", path);
    if (got == 0) return;
    use(buffer.get(), static_cast<std::size_t>(got));
  }
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using HashState = std::unique_ptr<XXH3_state_t, FreeState>;

HashState new_hash_state() {
  HashState state(XXH3_createState());
  CHECK(state != nullptr);
  XXH3_64bits_reset(state.get());
  return state;
}

void write_all(int fd, const char* data, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t written = ::write(fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(written, "{}", path);
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

MappedFile identify_file(const std::string& path) {
  const Fd fd = open_for_reading(path);
  struct stat status {};
  SYSCALL_CHECK(::fstat(fd.get(), &status), "{}", path);
  MappedFile file;
  file.path = path;
  file.size = static_cast<std::uint64_t>(status.st_size);
  file.ctime_ns = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.build_id = build_id_in(fd.get());
  // A device has no content to speak of; reading it might never end.
  if (file.build_id.empty() && S_ISREG(status.st_mode)) file.content_hash = content_hash_of(path);
  return file;
}

std::string explain_difference(const MappedFile& wanted) {
  try {
    if (!wanted.build_id.empty()) {
      const std::string found = build_id_of(wanted.path);
      if (found == wanted.build_id) return {};
      return fmt::format("{}: build-id {} was recorded, found {}", wanted.path, wanted.build_id,
                         found.empty() ? "none" : found);
    }
    if (wanted.content_hash.empty()) return {};
    const std::string found = content_hash_of(wanted.path);
    if (found == wanted.content_hash) return {};
    return fmt::format("{}: the content has changed since it was recorded", wanted.path);
  } catch (const SystemError& error) {
    return error.what();
  }
}

std::string build_id_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd.valid() ? build_id_in(fd.get()) : std::string();
}

bool is_elf(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd.valid() && !segments_in(fd.get()).empty();
}

std::string soname_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return {};
  const std::vector<Elf64_Phdr> segments = segments_in(fd.get());
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC || segment.p_filesz > kMaxDynamicBytes) continue;
    std::vector<Elf64_Dyn> entries(segment.p_filesz / sizeof(Elf64_Dyn));
    if (!read_exactly(fd.get(), segment.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return {};
    std::uint64_t strings = 0, name = 0;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
    }
    if (name == 0) return {};
    return text_at(fd.get(), offset_of(segments, strings) + name);
  }
  return {};
}

bool find_load_base(const std::string& path, std::uint64_t offset, std::uint64_t address, std::uint64_t& base) {
  constexpr std::uint64_t kPageMask = ~std::uint64_t{0xfff};
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return false;
  for (const Elf64_Phdr& segment : segments_in(fd.get())) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if ((segment.p_offset & kPageMask) != offset) continue;
    base = address - (segment.p_vaddr & kPageMask);
    return true;
  }
  return false;
}

std::string content_hash_of(const std::string& path) {
  const Fd fd = open_for_reading(path);
  const HashState state = new_hash_state();
  for_each_piece(fd.get(), path,
                 [&](const char* data, std::size_t bytes) { XXH3_64bits_update(state.get(), data, bytes); });
  return hash_text(XXH3_64bits_digest(state.get()));
}

std::string store_content(const std::string& source, const std::string& folder) {
  // Hashed while it is copied, then named: the source may change between two readings of it.
  const Fd from = open_for_reading(source);
  const std::string temporary = fmt::format("{}/new-{}", folder, ::getpid());
  const HashState state = new_hash_state();
  try {
    const Fd to(
        SYSCALL_CHECK(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "{}", temporary));
    for_each_piece(from.get(), source, [&](const char* data, std::size_t bytes) {
      XXH3_64bits_update(state.get(), data, bytes);
      write_all(to.get(), data, bytes, temporary);
    });
    const std::string name = hash_text(XXH3_64bits_digest(state.get()));
    const std::string final_path = folder + "/" + name;
    SYSCALL_CHECK(std::rename(temporary.c_str(), final_path.c_str()), "{}", final_path);
    return name;
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace reweave

#include "formats/base/sandbox.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "formats/base/error.h"

namespace reweave {

namespace {

namespace fs = std::filesystem;

// The linux/landlock.h of the oldest supported build system lacks some of these.
struct Ruleset {
  std::uint64_t handled_access_fs = 0, handled_access_net = 0, scoped = 0;
};
constexpr std::uint64_t kRefer = 1u << 13, kTruncate = 1u << 14, kIoctlDevice = 1u << 15;
constexpr std::uint64_t kTcp = 3;    // bind, connect
constexpr std::uint64_t kScope = 3;  // abstract UNIX sockets, signals

constexpr std::uint64_t kInFolder =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
constexpr std::uint64_t kGivenUp = kInFolder | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                   LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                   LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

// The part of the rules that version `abi` of Landlock supports.
Ruleset ruleset_of(long abi, bool may_fetch) {
  Ruleset rules{.handled_access_fs = kGivenUp};
  if (abi >= 2) rules.handled_access_fs |= kRefer;
  if (abi >= 3) rules.handled_access_fs |= kTruncate;
  if (abi >= 4 && !may_fetch) rules.handled_access_net = kTcp;
  if (abi >= 5) rules.handled_access_fs |= kIoctlDevice;
  if (abi >= 6 && !may_fetch) rules.scoped = kScope;
  return rules;
}

void allow(const Fd& ruleset, int folder, std::uint64_t access) {
  const landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = folder};
  SYSCALL_CHECK(syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0));
}

bool fetches_debug_information() {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  return servers != nullptr && servers[0] != 0;
}

// The debuginfod client's cache; debuginfod_find_debuginfo(3).
fs::path fetched_folder() {
  if (const char* own = std::getenv("DEBUGINFOD_CACHE_PATH")) return own;
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) return fs::path(cache) / "debuginfod_client";
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "/" : home) / ".cache/debuginfod_client";
}

void allow_fetching(const Fd& ruleset, std::uint64_t handled) {
  std::error_code ignored;
  fs::create_directories(fetched_folder(), ignored);
  if (!is_folder(fetched_folder())) return;  // then nothing is fetched
  allow(ruleset, Folder::open(fetched_folder()).fd(), handled & ~std::uint64_t{LANDLOCK_ACCESS_FS_EXECUTE});
}

}  // namespace

void give_up_writing(std::initializer_list<const Folder*> writable, bool may_fetch) {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return;
  const bool fetches = may_fetch && fetches_debug_information();
  const Ruleset rules = ruleset_of(abi, fetches);
  // Older kernels know only the beginning of the structure.
  const std::size_t known = abi >= 6 ? sizeof rules : abi >= 4 ? 16 : 8;
  const Fd ruleset(static_cast<int>(SYSCALL_CHECK(syscall(SYS_landlock_create_ruleset, &rules, known, 0))));
  for (const Folder* folder : writable) allow(ruleset, folder->fd(), (kInFolder | kTruncate) & rules.handled_access_fs);
  if (fetches) allow_fetching(ruleset, rules.handled_access_fs);
  SYSCALL_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  SYSCALL_CHECK(syscall(SYS_landlock_restrict_self, ruleset.get(), 0));
}

}  // namespace reweave

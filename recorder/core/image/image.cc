#include "recorder/core/image/image.h"
#include "recorder/alive_processes.h"

#include <linux/auxvec.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/code/direct_calls.h"
#include "recorder/core/code/static_runtime.h"
#include "recorder/core/image/elf_loader.h"
#include "recorder/core/log/log.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/stops.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/table.h"

extern "C" [[noreturn]] void core_enter_program(std::uint64_t stack, std::uint64_t entry);
extern "C" [[noreturn]] void core_exec_stop(std::uint64_t stack, std::uint64_t entry);

namespace reweave::core {

bool parse_hash_bang(const unsigned char* head, long bytes, HashBang& out) {
  if (bytes < 3 || head[0] != '#' || head[1] != '!') return false;
  constexpr long kKernelsLine = 255;  // the kernel reads no more, except to see whether a name ends there
  std::size_t n = 0;
  for (long i = 2; i < bytes && i < kKernelsLine && head[i] != '\n'; i++) out.line[n++] = static_cast<char>(head[i]);
  const unsigned char next = bytes > kKernelsLine ? head[kKernelsLine] : 0;
  const bool cut = n == kKernelsLine - 2 && next != 0 && next != '\n' && next != ' ' && next != '\t';
  while (n > 0 && (out.line[n - 1] == ' ' || out.line[n - 1] == '\t')) n--;
  out.line[n] = 0;
  char* p = out.line;
  auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (blank(*p)) p++;
  out.interpreter = p;
  out.argument = nullptr;
  while (*p != 0 && !blank(*p)) p++;
  if (cut && p == out.line + kKernelsLine - 2) return false;
  if (*p != 0) {
    *p++ = 0;
    while (blank(*p)) p++;
    if (*p != 0) out.argument = p;
  }
  return *out.interpreter != 0;
}

namespace {

constexpr std::uint64_t kExtraArgs = 2 * kMaxInterpreters;

static_assert(kProgramFd == 1002);
constexpr char kOwnProgram[] = "/proc/thread-self/fd/1002";

char absolute_path[4096];
LoadedImage program, interpreter;
bool needs_tsan_shim_too;

// The auxiliary vector that every program gets. The entries are always the same, so that the stack has the same layout
// on every kernel. There is no vDSO, so that the C library makes real system calls to read the time.
constexpr std::uint64_t kAuxiliary[] = {
    AT_HWCAP, AT_PAGESZ, AT_CLKTCK, AT_PHDR,   AT_PHENT,  AT_PHNUM,  AT_BASE,   AT_FLAGS,    AT_ENTRY,       AT_UID,
    AT_EUID,  AT_GID,    AT_EGID,   AT_SECURE, AT_RANDOM, AT_HWCAP2, AT_EXECFN, AT_PLATFORM, AT_MINSIGSTKSZ, AT_NULL};
constexpr std::uint64_t kAuxiliaryCount = sizeof kAuxiliary / sizeof kAuxiliary[0];

HashBang hash_bangs[kMaxInterpreters];

// The stack of a new program, filled from the top down.
class StackBuilder {
 public:
  explicit StackBuilder(std::uint64_t top) : at_(top) {}
  std::uint64_t push(const void* data, std::uint64_t bytes) {
    at_ -= bytes;
    memcpy(reinterpret_cast<void*>(at_), data, bytes);
    return at_;
  }
  std::uint64_t push_string(const char* s) { return push(s, string_length(s) + 1); }
  std::uint64_t at() const { return at_; }

 private:
  std::uint64_t at_;
};

std::uint64_t kernel_value(const StartArgs& args, std::uint64_t type) {
  for (const std::uint64_t* entry = args.auxv; entry[0] != AT_NULL; entry += 2)
    if (entry[0] == type) return entry[1];
  return 0;
}

struct InitialStack {
  std::uint64_t pointer;
  std::uint64_t arg_start, arg_end, env_start, env_end;
  std::uint64_t auxiliary;
};

// HWCAP2_FSGSBASE: programs use it to decide whether to keep data in GS, which the core needs. They have alternatives.
constexpr std::uint64_t kMayWriteBases = 2;

std::uint64_t auxiliary_value(std::uint64_t type, const StartArgs& args, std::uint64_t random, std::uint64_t name,
                              std::uint64_t platform) {
  switch (type) {
    case AT_PHDR:
      return program.headers;
    case AT_PHENT:
      return 56;
    case AT_PHNUM:
      return program.header_count;
    case AT_BASE:
      return interpreter.base;
    case AT_ENTRY:
      return program.entry;
    case AT_SECURE:
      return 0;
    case AT_RANDOM:
      return random;
    case AT_EXECFN:
      return name;
    case AT_PLATFORM:
      return platform;
    case AT_HWCAP2:
      return kernel_value(args, type) & ~kMayWriteBases;
    default:
      return kernel_value(args, type);
  }
}

// Gives the stack of a new program the size that the limit allows.
void fit_stack(std::uint64_t limit) {
  constexpr std::uint64_t kLeast = 128 << 10;  // for arguments and environment alone, execve(2)
  grow_stack(limit);
  const std::uint64_t bytes = page_up(limit > kLeast ? limit : kLeast), bottom = kStackTop - kStackBytes;
  if (limit >= kStackBytes || bytes >= kStackBytes) return;
  sys(SYS_munmap, bottom, kStackBytes - bytes);
  remove_region(bottom, kStackTop - bytes);
}

std::uint64_t stack_limit() {
  std::uint64_t limit[2] = {kStackBytes, 0};
  sys(SYS_prlimit64, 0, 3 /* RLIMIT_STACK */, nullptr, limit);
  return limit[0];
}

// argc, argv, envp and the auxiliary vector, as the x86-64 ABI lays them out.
InitialStack build_stack(const StartArgs& args, char** argv, long argc) {
  grow_stack(kStackBytes);
  InitialStack stack = {};
  StackBuilder builder(kStackTop - 64);
  long envc = 0;
  while (args.envp[envc] != nullptr) envc++;
  // Pointers are collected in scratch memory first, because there may be many.
  auto* pointers = reinterpret_cast<std::uint64_t*>(scratch_of(self()));
  const std::uint64_t name = builder.push_string(args.name);
  std::uint64_t n = static_cast<std::uint64_t>(argc + envc) + 3;
  stack.env_end = builder.at();
  for (long i = envc; i-- > 0;) pointers[argc + 2 + i] = builder.push_string(args.envp[i]);
  pointers[argc + 2 + envc] = 0;
  stack.env_start = stack.arg_end = builder.at();
  for (long i = argc; i-- > 0;) pointers[1 + i] = builder.push_string(argv[i]);
  pointers[0] = static_cast<std::uint64_t>(argc);
  pointers[1 + argc] = 0;
  stack.arg_start = builder.at();
  const std::uint64_t platform = builder.push_string("x86_64");
  const std::uint64_t random = builder.push(config().random_bytes, 16);
  const std::uint64_t auxiliary_index = n;
  for (std::uint64_t type : kAuxiliary) {
    pointers[n++] = type;
    pointers[n++] = type == AT_NULL ? 0 : auxiliary_value(type, args, random, name, platform);
  }
  stack.pointer = (builder.at() - n * 8) & ~std::uint64_t{15};
  memcpy(reinterpret_cast<void*>(stack.pointer), pointers, n * 8);
  stack.auxiliary = stack.pointer + auxiliary_index * 8;
  return stack;
}

// The kernel decides parts of the initial state. They are inputs: logged, or taken from the recording.
void log_start(const InitialStack& stack) {
  Thread& me = self();
  if (replaying()) {
    const auto& record = expect<wire::SyscallRecord>(wire::RecordKind::kSyscall, "started a program");
    const wire::OutputChunk* chunk = sole_chunk(record.header);
    if (record.number != wire::kImageStart || chunk == nullptr || chunk->bytes != kAuxiliaryCount * 16 ||
        chunk->address != stack.auxiliary)
      diverged("started a program", &record.header);
    memcpy(reinterpret_cast<void*>(stack.auxiliary), chunk + 1, kAuxiliaryCount * 16);
    process().ignored_signals = record.args[0];
    me.signal_mask = record.args[1];
    if (record.args[2] != 0) fit_stack(record.args[2]);
    consume_record();
  } else {
    PseudoCall record(wire::kImageStart, kAuxiliaryCount * 16);
    record.fields().args[0] = process().ignored_signals;
    record.fields().args[1] = me.signal_mask;
    record.fields().args[2] = stack_limit();
    fit_stack(stack_limit());
    record.append_chunk(stack.auxiliary, reinterpret_cast<const void*>(stack.auxiliary), kAuxiliaryCount * 16);
    record.commit();
  }
  for (int number = 1; number <= kSignalCount; number++)
    signal_action(number) = {(process().ignored_signals & signal_bit(number)) != 0 ? 1u : 0u, 0, 0, 0};
}

// Makes the kernel and debuggers see the program instead of the core (PR_SET_MM_MAP, prctl(2)).
void tell_kernel(const InitialStack& stack, const char* executed) {
  struct prctl_mm_map map = {};
  map.start_code = program.start;
  map.end_code = map.start_data = map.end_data = program.end;
  map.start_brk = program_break().start;
  // The core emulates brk. /proc/PID/maps shows [heap] only if the kernel's own heap is not empty.
  map.brk = map.start_brk + kPage;
  map.start_stack = stack.pointer;
  map.arg_start = stack.arg_start;
  map.arg_end = stack.arg_end;
  map.env_start = stack.env_start;
  map.env_end = stack.env_end;
  map.auxv = reinterpret_cast<__u64*>(stack.auxiliary);
  map.auxv_size = kAuxiliaryCount * 16;
  map.exe_fd = static_cast<__u32>(-1);
  sys(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
  sys(SYS_prctl, PR_SET_NAME, base_name(executed));
}

// The name of the process: the name that was executed, not the one to which links and scripts lead. If a descriptor was
// executed, the name of its file, in `to`.
const char* name_of_process(const StartArgs& args, char* to, std::size_t room) {
  constexpr const char *kDescriptor = "/dev/fd/", *kGone = " (deleted)";
  if (!starts_with(args.name, kDescriptor) || !live()) return args.name;
  const char* number = base_name(args.name);
  if (number != args.name + string_length(kDescriptor)) return args.name;
  const long n = sys(SYS_readlink, args.path, to, room - 1);
  if (is_error(n)) return args.path;
  to[n] = 0;
  const std::size_t gone = string_length(kGone), length = static_cast<std::size_t>(n);
  if (length > gone && string_equal(to + length - gone, kGone)) to[length - gone] = 0;
  return to;
}

long open_program(const char* path, bool first, FileIdentity& file, FileHead& head) {
  const long fd = open_image(path, first, file, head);
  if (is_error(fd)) {
    Text text;
    text << "cannot open " << path << " (error " << static_cast<int>(-fd) << ")";
    stop_run(wire::OutcomeKind::kUnsupported, text);
  }
  return fd;
}

// Called if a program cannot be loaded. For the first program, which the user asked for, stops the run with a message.
// For any other, the process dies, as in the kernel, which notices this when exec can no longer fail.
[[noreturn]] void give_up_image(const StartArgs& args, const char* path) {
  if (args.first) {
    Text text;
    text << path << " is not a program that this machine can run";
    stop_run(wire::OutcomeKind::kUnsupported, text);
  }
  end_process(SIGSEGV);
  die_by_signal(SIGSEGV);
}

}  // namespace

const char* program_path() { return absolute_path; }

bool is_own_program(const char* path) { return path == kOwnProgram; }

LoadedObject loaded_program() {
  return {program.base, reinterpret_cast<std::uint64_t>(dynamic_section(program)), program.entry};
}

std::uint64_t program_end() { return page_up(program.end); }

void grow_stack(std::uint64_t limit) {
  constexpr std::uint64_t kMost = std::uint64_t{256} << 20;  // even if there is no limit
  const std::uint64_t bytes = page_up(limit < kMost ? limit : kMost), bottom = kStackTop - bytes;
  std::uint64_t top = kStackTop;
  const Region* known = region_at(kStackTop - kPage);
  if (known != nullptr) top = known->start;
  if (bottom >= top || !is_free(bottom, top - bottom)) return;
  // gcc's trampolines for nested functions are code on the stack.
  const std::uint32_t prot = PROT_READ | PROT_WRITE | (program.executable_stack ? PROT_EXEC : 0u);
  sys(SYS_mmap, bottom, top - bottom, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  add_region({bottom, top, prot, false, 0, 0, kNoFile});
}

bool needs_tsan_shim() { return needs_tsan_shim_too; }

bool in_interpreter(std::uint64_t ip) { return ip >= interpreter.start && ip < interpreter.end; }

namespace {

// /proc/self/exe and its other spellings for the calling process.
bool is_own_exe(const char* path) {
  if (!starts_with(path, "/proc/")) return false;
  if (string_equal(path, "/proc/self/exe") || string_equal(path, "/proc/thread-self/exe")) return true;
  Text own;
  own << "/proc/" << id_seen_from(namespace_of_proc(), process()) << "/exe";
  return string_equal(path, own.c_str());
}

}  // namespace

const char* program_behind(const char* path) {
  if (is_own_exe(path)) return kOwnProgram;
  if (!starts_with(path, "/proc/")) return nullptr;
  const std::uint16_t theirs = namespace_of_proc();
  const Process* named = find_alive(state(), [&](const Process& process) {
    Text other;
    other << "/proc/" << id_seen_from(theirs, process) << "/exe";
    return string_equal(path, other.c_str());
  });
  return named == nullptr ? nullptr : named->program;
}

void start_program(const StartArgs& args) {
  static FileIdentity file;
  static char* argv[1 << 16];
  FileHead head;
  long argc = 0;
  const char* path = args.path;
  long fd = open_program(path, args.first, file, head);
  // Arguments that `#!` lines prepend, innermost first.
  const char* prefix[kExtraArgs];
  std::uint64_t prefix_count = 0;
  for (int depth = 0; depth < kMaxInterpreters && parse_hash_bang(head.data, head.bytes, hash_bangs[depth]); depth++) {
    prefix[prefix_count++] = depth == 0 ? args.name : path;
    if (hash_bangs[depth].argument != nullptr) prefix[prefix_count++] = hash_bangs[depth].argument;
    path = hash_bangs[depth].interpreter;
    sys(SYS_close, fd);
    fd = open_program(path, args.first, file, head);
  }
  if (args.argc + static_cast<long>(kExtraArgs) >= (1 << 16))
    stop_run(wire::OutcomeKind::kUnsupported, "more than 65,000 arguments");
  if (prefix_count != 0) {
    argv[argc++] = const_cast<char*>(path);
    while (prefix_count > 0) argv[argc++] = const_cast<char*>(prefix[--prefix_count]);
    for (long i = 1; i < args.argc; i++) argv[argc++] = args.argv[i];
  } else {
    for (long i = 0; i < args.argc; i++) argv[argc++] = args.argv[i];
  }
  copy_string(absolute_path, sizeof absolute_path, file.path);
  copy_string(process().program, sizeof process().program, absolute_path);
  process().program_device = file.device;
  process().program_inode = file.inode;
  process().program_slot = file.program_slot;
  set_program_slot(file.program_slot);
  if (!load_image(fd, file, pie_base(file.program_slot), program)) give_up_image(args, path);
  needs_tsan_shim_too = prepare_instrumented(program);
  if (fd != kProgramFd) {
    sys(SYS_dup3, fd, kProgramFd, 0);
    sys(SYS_close, fd);
  }
  const std::uint64_t heap = program_end() + (program.interpreter[0] != 0 ? kShimRoom : 0);
  program_break() = {heap, heap};
  std::uint64_t entry = program.entry;
  interpreter = {};
  if (program.interpreter[0] != 0) {
    fd = open_program(program.interpreter, false, file, head);
    if (!load_image(fd, file, 0, interpreter)) give_up_image(args, program.interpreter);
    sys(SYS_close, fd);
    entry = interpreter.entry;
  }
  const InitialStack stack = build_stack(args, argv, argc);
  log_start(stack);
  begin_without_stops();
  install_core_handlers();
  char file_name[256];
  tell_kernel(stack, name_of_process(args, file_name, sizeof file_name));
  arm();
  if (self().tracee != 0) core_exec_stop(stack.pointer, entry);
  core_enter_program(stack.pointer, entry);
}

}  // namespace reweave::core

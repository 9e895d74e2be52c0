#include "recorder/supervisor/target/unwinder.h"

#include <dlfcn.h>
#include <libunwind-x86_64.h>

#include "formats/base/error.h"

#define NAME_OF_MACRO(name) #name
#define NAME_OF(name) NAME_OF_MACRO(name)

// Exported by libunwind for users that find the tables themselves, but declared in none of its headers.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t*, unw_proc_info_t*,
                                                  int need_unwind_info, void* argument);

namespace reweave {

namespace {
// For a deep recursion the innermost part is enough, and an entry must fit into the cache.
constexpr std::size_t kMaxFrames = 200;
constexpr std::size_t kMaxWords = 4096;

// libunwind's library for other processes' stacks; the one for the own process would replace the compiler's unwinder.
constexpr char kLibrary[] = "libunwind-x86_64.so.8";

// The functions used. The library is loaded when the first stack is requested: with its dependencies it would take a
// tenth of the start of each replay, and most replays need no stacks.
struct LibUnwind {
  decltype(&UNW_OBJ(create_addr_space)) create_addr_space;
  decltype(&UNW_OBJ(set_caching_policy)) set_caching_policy;
  decltype(&UNW_OBJ(destroy_addr_space)) destroy_addr_space;
  decltype(&UNW_OBJ(init_remote)) init_remote;
  decltype(&UNW_OBJ(step)) step;
  decltype(&UNW_OBJ(get_reg)) get_reg;
  decltype(&UNW_OBJ(dwarf_search_unwind_table)) search_table;
};

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  REQUIRE(function != nullptr, "{} lacks {}; install the libunwind that Reweave was built with", kLibrary, name);
}

LibUnwind load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr, "call stacks need libunwind (Debian: libunwind8): {}", dlerror());
  LibUnwind found = {};
  find(library, NAME_OF(UNW_OBJ(create_addr_space)), found.create_addr_space);
  find(library, NAME_OF(UNW_OBJ(set_caching_policy)), found.set_caching_policy);
  find(library, NAME_OF(UNW_OBJ(destroy_addr_space)), found.destroy_addr_space);
  find(library, NAME_OF(UNW_OBJ(init_remote)), found.init_remote);
  find(library, NAME_OF(UNW_OBJ(step)), found.step);
  find(library, NAME_OF(UNW_OBJ(get_reg)), found.get_reg);
  find(library, NAME_OF(UNW_OBJ(dwarf_search_unwind_table)), found.search_table);
  return found;
}

// Throws BadInput with advice on what to install.
const LibUnwind& libunwind() {
  static const LibUnwind loaded = load();
  return loaded;
}

}  // namespace

class Unwinder::Target {
 public:
  explicit Target(pid_t pid) : code(pid), memory(pid) {}

  void begin(const StackRegisters& now, CallStack& stack) {
    memory.forget();
    registers = &now;
    words = &stack.words;
    lost = false;
  }

  bool read_word(std::uint64_t address, std::uint64_t& value) {
    if (code.read(address, &value, sizeof value)) return true;
    if (!memory.read(address, &value, sizeof value) || words->size() == kMaxWords) return false;
    words->push_back({address, value});
    return true;
  }

  bool read_register(int number, std::uint64_t& value) {
    struct Row {
      int number;
      std::uint32_t index;  // in StackRegisters
    };
    static constexpr Row kRows[] = {{UNW_X86_64_R15, 0}, {UNW_X86_64_R14, 1}, {UNW_X86_64_R13, 2}, {UNW_X86_64_R12, 3},
                                    {UNW_X86_64_RBX, 4}, {UNW_X86_64_RBP, 5}, {UNW_X86_64_RSP, 6}, {UNW_X86_64_RIP, 7}};
    const auto* values = reinterpret_cast<const std::uint64_t*>(registers);
    for (const Row& row : kRows) {
      if (row.number != number) continue;
      value = values[row.index];
      if (row.index < kKeptRegisters) words->push_back({row.index, value});
      return true;
    }
    return false;
  }

  int find_procedure(unw_addr_space_t space, std::uint64_t pc, unw_proc_info_t* procedure, int need_unwind_info) {
    const RemoteModule* module = code.module_at(pc);
    int result = -UNW_ENOINFO;
    if (module != nullptr && module->table != 0) {
      unw_dyn_info_t info = {};
      info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
      info.start_ip = module->start;
      info.end_ip = module->end;
      info.u.rti.segbase = module->table_header;
      info.u.rti.table_data = module->table;
      info.u.rti.table_len = module->table_entries;  // in words; an entry is one
      result = libunwind().search_table(space, pc, &info, procedure, need_unwind_info, this);
    }
    lost |= result < 0;
    return result;
  }

  RemoteCode code;
  RemoteMemory memory;
  const StackRegisters* registers = nullptr;
  std::vector<StackWord>* words = nullptr;
  bool lost = false;  // reached code without unwind information, after which libunwind would guess
};

namespace {

Unwinder::Target& target_of(void* argument) { return *static_cast<Unwinder::Target*>(argument); }

int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t* info, int need_unwind_info, void* argument) {
  return target_of(argument).find_procedure(space, pc, info, need_unwind_info);
}

void put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}

int get_dyn_info_list_addr(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
  return write == 0 && target_of(argument).read_word(address, *value) ? 0 : -UNW_EINVAL;
}

int access_reg(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
  return write == 0 && target_of(argument).read_register(number, *value) ? 0 : -UNW_EBADREG;
}

int access_fpreg(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EBADREG; }

int resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }

int get_proc_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

unw_accessors_t accessors = {find_proc_info, put_unwind_info, get_dyn_info_list_addr, access_mem, access_reg,
                             access_fpreg,   resume,          get_proc_name};

}  // namespace

Unwinder::Unwinder(pid_t pid)
    : target_(std::make_unique<Target>(pid)), space_(libunwind().create_addr_space(&accessors, 0)) {
  CHECK(space_ != nullptr);
  libunwind().set_caching_policy(static_cast<unw_addr_space_t>(space_), UNW_CACHE_GLOBAL);
}

Unwinder::~Unwinder() { libunwind().destroy_addr_space(static_cast<unw_addr_space_t>(space_)); }

bool Unwinder::forbidden() const { return target_->memory.forbidden(); }

bool Unwinder::unwind(const StackRegisters& registers, std::uint64_t pc, CallStack& stack) {
  stack.callers.clear();
  stack.words.clear();
  target_->begin(registers, stack);
  unw_cursor_t cursor;
  if (libunwind().init_remote(&cursor, static_cast<unw_addr_space_t>(space_), target_.get()) != 0) return false;
  bool reached = false;
  while (stack.callers.size() < kMaxFrames && libunwind().step(&cursor) > 0 && !target_->lost) {
    unw_word_t ip = 0;
    if (libunwind().get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0) break;
    if (reached) stack.callers.push_back(ip);
    reached |= ip == pc;
  }
  return reached;
}

}  // namespace reweave

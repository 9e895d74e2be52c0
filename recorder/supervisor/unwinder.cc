#include "recorder/supervisor/unwinder.h"

#include <libunwind-x86_64.h>

#include "formats/error.h"

// Exported by libunwind for those who find the tables themselves, but in none of its headers.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t*, unw_proc_info_t*,
                                                  int need_unwind_info, void* argument);

namespace reweave {

namespace {
// Of a deeper recursion the innermost part is enough; and an entry must fit into the cache.
constexpr std::size_t kMaxFrames = 200;
constexpr std::size_t kMaxWords = 4096;
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
      result = UNW_OBJ(dwarf_search_unwind_table)(space, pc, &info, procedure, need_unwind_info, this);
    }
    lost |= result < 0;
    return result;
  }

  RemoteCode code;
  RemoteMemory memory;
  const StackRegisters* registers = nullptr;
  std::vector<StackWord>* words = nullptr;
  bool lost = false;  // came to code without unwind information: from there on libunwind would guess
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

Unwinder::Unwinder(pid_t pid) : target_(std::make_unique<Target>(pid)), space_(unw_create_addr_space(&accessors, 0)) {
  CHECK(space_ != nullptr);
  unw_set_caching_policy(static_cast<unw_addr_space_t>(space_), UNW_CACHE_GLOBAL);
}

Unwinder::~Unwinder() { unw_destroy_addr_space(static_cast<unw_addr_space_t>(space_)); }

bool Unwinder::forbidden() const { return target_->memory.forbidden(); }

bool Unwinder::unwind(const StackRegisters& registers, std::uint64_t pc, CallStack& stack) {
  stack.callers.clear();
  stack.words.clear();
  target_->begin(registers, stack);
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, static_cast<unw_addr_space_t>(space_), target_.get()) != 0) return false;
  bool reached = false;
  while (stack.callers.size() < kMaxFrames && unw_step(&cursor) > 0 && !target_->lost) {
    unw_word_t ip = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0) break;
    if (reached) stack.callers.push_back(ip);
    reached |= ip == pc;
  }
  return reached;
}

}  // namespace reweave

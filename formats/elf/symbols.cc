#include "formats/elf/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "formats/base/folder.h"
#include "formats/elf/allocated_type.h"
#include "formats/elf/debug_names.h"
#include "formats/elf/debug_session.h"
#include "formats/elf/variable_types.h"

namespace reweave {
namespace {

// Opens the debug file that `files` has for a build-id; negative if there is none.
int open_debug_file(const SymbolFiles& files, const std::string& build_id) {
  return files.debug && !build_id.empty() ? files.debug(build_id).release() : -1;
}

// Dwfl's callback: `user` points to the SymbolFiles of the module.
int find_debug_info(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word checksum, char** found) {
  if (*user != nullptr) {
    const int fd = open_debug_file(*static_cast<const SymbolFiles*>(*user), module_build_id(module));
    if (fd >= 0) return fd;
  }
  return dwfl_standard_find_debuginfo(module, user, name, base, file, link, checksum, found);
}

constexpr Dwfl_Callbacks kCallbacks = offline_callbacks(find_debug_info);

// Paths in debug information may be relative to the compilation directory.
std::string full_path(const char* file, const char* compiled_in) {
  if (file[0] == '/' || compiled_in == nullptr) return file;
  return std::filesystem::path(compiled_in).append(file).lexically_normal();
}

// The call site of an inlined function.
SourceFrame call_site(Dwarf_Die* inlined, Dwarf_Die* unit) {
  SourceFrame frame;
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) == 0) {
    frame.line = static_cast<int>(number);
  }
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) == 0 &&
      dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count) {
    Dwarf_Attribute directory;
    const char* compiled_in = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &directory));
    if (const char* file = dwarf_filesrc(files, number, nullptr, nullptr)) frame.file = full_path(file, compiled_in);
  }
  return frame;
}

}  // namespace

std::string CodeSymbol::text() const {
  if (frames.empty()) return fallback;
  const SourceFrame& frame = frames.front();
  std::string result = frame.function.empty() ? fallback : frame.function;
  if (!frame.file.empty()) result += " at " + frame.file + ":" + std::to_string(frame.line);
  return result;
}

std::string DataSymbol::text() const {
  if (!path.empty() || offset == 0) return name + path;
  return name + "+" + std::to_string(offset);
}

// One ELF file.
class Symbols::Module {
 public:
  Module(const std::string& path, const std::string& build_id, const SymbolFiles& files) : path_(path) {
    Fd file = files.module ? files.module(path) : try_open_regular(path);
    dwfl_ = file.valid() ? dwfl_begin(&kCallbacks) : nullptr;
    if (dwfl_ == nullptr) return;
    Dwfl_Module* module = report_file(dwfl_, std::move(file), path);
    GElf_Addr bias = 0;
    if (module == nullptr || dwfl_module_getelf(module, &bias) == nullptr) return;
    const std::string found = module_build_id(module);
    if (!build_id.empty() && !found.empty() && found != build_id) return;  // not the recorded file
    module_ = module;
    bias_ = bias;
    void** user = nullptr;
    dwfl_module_info(module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    *user = const_cast<SymbolFiles*>(&files);
    supply_alternate(files);
  }
  ~Module() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
    dwarf_end(alternate_);
    if (alternate_fd_ >= 0) close(alternate_fd_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const CodeSymbol& code(std::uint64_t offset, bool is_return_address) {
    auto [it, fresh] = code_.try_emplace({offset, is_return_address});
    if (fresh) it->second = look_up(offset, is_return_address ? offset - 1 : offset);
    return it->second;
  }

  std::vector<CodeRange> code_of(const std::string& function) const {
    std::vector<CodeRange> ranges;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; module_ && (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;)
      add_ranges(unit, function, bias - bias_, ranges);
    std::ranges::sort(ranges, {}, &CodeRange::start);
    return ranges;
  }

  std::string allocated_type(std::uint64_t offset, std::uint64_t bytes) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = module_ == nullptr ? nullptr : unit_at(offset - 1 + bias_, bias);
    return unit == nullptr ? "" : reweave::allocated_type(unit, offset - 1 + bias_ - bias, bytes);
  }

  DataSymbol data(std::uint64_t offset) const {
    DataSymbol result;
    if (module_ == nullptr) return result;
    GElf_Off within = 0;
    GElf_Sym symbol{};
    const char* name = dwfl_module_addrinfo(module_, offset + bias_, &within, &symbol, nullptr, nullptr, nullptr);
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (name == nullptr || type == STT_FUNC || within >= symbol.st_size) return result;
    if (!variables_) variables_.emplace(module_);
    return {demangle(name), within, symbol.st_size, variables_->path_at(offset + bias_ - within, within)};
  }

  std::vector<std::uint64_t> functions(const std::string& name) const {
    std::vector<std::uint64_t> found;
    const int count = module_ == nullptr ? 0 : dwfl_module_getsymtab(module_);
    for (int i = 0; i < count; i++) {
      GElf_Sym symbol{};
      GElf_Addr address = 0;
      const char* linked = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
      if (linked == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      const std::string full = demangle(linked);
      if (linked != name && full != name && without_parameters(full) != name) continue;
      if (std::find(found.begin(), found.end(), address - bias_) == found.end()) found.push_back(address - bias_);
    }
    return found;
  }

 private:
  // Debug information shared by several files may be in a supplementary file (.gnu_debugaltlink).
  void supply_alternate(const SymbolFiles& files) {
    Dwarf_Addr bias = 0;
    Dwarf* debug = dwfl_module_getdwarf(module_, &bias);
    const char* name = nullptr;
    const void* build_id = nullptr;
    if (debug == nullptr || dwarf_getalt(debug) != nullptr) return;
    const ssize_t count = dwelf_dwarf_gnu_debugaltlink(debug, &name, &build_id);
    if (count <= 0) return;
    alternate_fd_ = open_debug_file(
        files, hex_digits(static_cast<const unsigned char*>(build_id), static_cast<std::size_t>(count)));
    if (alternate_fd_ < 0) return;
    alternate_ = dwarf_begin(alternate_fd_, DWARF_C_READ);
    if (alternate_ != nullptr) dwarf_setalt(debug, alternate_);
  }

  CodeSymbol look_up(std::uint64_t shown, std::uint64_t offset) const {
    CodeSymbol result;
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "+0x%llx", static_cast<unsigned long long>(shown));
    result.fallback = path_.substr(path_.rfind('/') + 1) + digits.data();
    if (module_ == nullptr) return result;
    const Dwarf_Addr address = offset + bias_;
    SourceFrame frame;
    Dwarf_Addr bias = 0;
    if (Dwarf_Die* unit = unit_at(address, bias)) {
      frame = line_at(unit, address - bias);
      add_frames(unit, address - bias, frame, result.frames);
    }
    if (result.frames.empty()) {  // no debug information: the nearest symbol
      frame.function = demangle(dwfl_module_addrname(module_, address));
      if (!frame.function.empty() || !frame.file.empty()) result.frames.push_back(frame);
    }
    return result;
  }

  // Adds the code of the function from the DIEs below `parent`, including its inlined copies.
  static void add_ranges(Dwarf_Die* parent, const std::string& function, Dwarf_Addr bias,
                         std::vector<CodeRange>& ranges) {
    Dwarf_Die die;
    for (int more = dwarf_child(parent, &die); more == 0; more = dwarf_siblingof(&die, &die)) {
      const int tag = dwarf_tag(&die);
      const bool is_code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
      if (is_code && is_named(&die, function)) {
        Dwarf_Addr base = 0, start = 0, end = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
          ranges.push_back({start + bias, end + bias});
      }
      add_ranges(&die, function, bias, ranges);
    }
  }
  static bool is_named(Dwarf_Die* die, const std::string& function) {
    Dwarf_Attribute attribute;
    const char* last = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    if (last == nullptr || function.find(last) == function.npos) return false;  // a quick check first
    const std::string name = function_name(die);
    return name == function || (!name.empty() && without_parameters(name) == function);
  }

  // The compilation unit of an address; `bias` is the bias of its debug information. libdw's look-up needs a table of
  // address ranges (.debug_aranges), which clang does not write. Without it, the units' own ranges are used.
  Dwarf_Die* unit_at(Dwarf_Addr address, Dwarf_Addr& bias) const {
    if (Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias)) return unit;
    if (!units_read_) read_units();
    auto after = units_.upper_bound(address);
    if (after == units_.begin()) return nullptr;
    const UnitRange& range = std::prev(after)->second;
    bias = range.bias;
    return address < range.end ? range.unit : nullptr;
  }

  void read_units() const {
    units_read_ = true;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;) {
      Dwarf_Addr base = 0, start = 0, end = 0;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0;)
        units_[start + bias] = {end + bias, bias, unit};
    }
  }

  static SourceFrame line_at(Dwarf_Die* unit, Dwarf_Addr address) {
    SourceFrame frame;
    Dwarf_Line* line = dwarf_getsrc_die(unit, address);
    const char* file = line == nullptr ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
    if (file == nullptr || dwarf_lineno(line, &frame.line) != 0) return {};
    Dwarf_Attribute directory;
    frame.file = full_path(file, dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &directory)));
    return frame;
  }

  // Adds a frame for the function at `address`, and one for each function that it is inlined into. `frame` has the
  // source position in the innermost one.
  static void add_frames(Dwarf_Die* unit, Dwarf_Addr address, SourceFrame frame, std::vector<SourceFrame>& frames) {
    Dwarf_Die* found = nullptr;
    if (dwarf_getscopes(unit, address, &found) <= 0) return;
    // The first call gives the lexical context of an inlined body; the callers are the context of the inlined instance.
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&found[0], &scopes);
    for (int i = 0; i < count; ++i) {
      const int tag = dwarf_tag(&scopes[i]);
      if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
      frame.function = function_name(&scopes[i]);
      frames.push_back(frame);
      if (tag == DW_TAG_subprogram) break;
      frame = call_site(&scopes[i], unit);
    }
    std::free(scopes);
    std::free(found);
  }

  std::string path_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Dwarf* alternate_ = nullptr;
  int alternate_fd_ = -1;
  GElf_Addr bias_ = 0;
  std::map<std::pair<std::uint64_t, bool>, CodeSymbol> code_;

  struct UnitRange {
    Dwarf_Addr end, bias;
    Dwarf_Die* unit;
  };
  mutable std::map<Dwarf_Addr, UnitRange> units_;  // by start; filled when first needed
  mutable bool units_read_ = false;
  mutable std::optional<VariableTypes> variables_;  // read when first needed
};

Symbols::Symbols(SymbolFiles files) : files_(std::move(files)) {}
Symbols::~Symbols() = default;

Symbols::Module& Symbols::module(const std::string& path, const std::string& build_id) {
  auto& slot = modules_[{path, build_id}];
  if (!slot) slot = std::make_unique<Module>(path, build_id, files_);
  return *slot;
}

const CodeSymbol& Symbols::code(const std::string& path, const std::string& build_id, std::uint64_t offset,
                                bool is_return_address) {
  return module(path, build_id).code(offset, is_return_address);
}

std::vector<std::uint64_t> Symbols::functions(const std::string& path, const std::string& build_id,
                                              const std::string& name) {
  return module(path, build_id).functions(name);
}

std::vector<CodeRange> Symbols::code_of(const std::string& path, const std::string& build_id,
                                        const std::string& function) {
  return module(path, build_id).code_of(function);
}

std::string Symbols::allocated_type(const std::string& path, const std::string& build_id, std::uint64_t offset,
                                    std::uint64_t bytes) {
  return module(path, build_id).allocated_type(offset, bytes);
}

DataSymbol Symbols::data(const std::string& path, const std::string& build_id, std::uint64_t offset) {
  return module(path, build_id).data(offset);
}

}  // namespace reweave

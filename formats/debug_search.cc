#include "formats/debug_search.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace reweave {
namespace {

namespace fs = std::filesystem;

char* no_debug_path = nullptr;
constexpr Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_debug_path,  // the standard places
};

std::string hex_digits(const unsigned char* bytes, long count) {
  std::string result;
  for (long i = 0; i < count; ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", bytes[i]);
    result += digits.data();
  }
  return result;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// What the debug information `of` at `path` refers to.
void add_alternate(Dwarf* of, const std::string& path, std::vector<FoundDebugFile>& found) {
  const char* name = nullptr;
  const void* bits = nullptr;
  const ssize_t count = dwelf_dwarf_gnu_debugaltlink(of, &name, &bits);
  if (count <= 0) return;
  const std::string id = hex_digits(static_cast<const unsigned char*>(bits), count);
  const fs::path places[] = {fs::path("/usr/lib/debug/.build-id") / id.substr(0, 2) / (id.substr(2) + ".debug"),
                             fs::path(path).parent_path() / name};
  for (const fs::path& place : places) {
    if (!is_file(place)) continue;
    found.push_back({id, place.string()});
    return;
  }
}

}  // namespace

std::vector<FoundDebugFile> find_debug_files(const std::string& path) {
  std::vector<FoundDebugFile> found;
  const std::unique_ptr<Dwfl, void (*)(Dwfl*)> dwfl(dwfl_begin(&kCallbacks), dwfl_end);
  if (dwfl == nullptr) return found;
  dwfl_report_begin(dwfl.get());
  Dwfl_Module* module = dwfl_report_offline(dwfl.get(), path.c_str(), path.c_str(), -1);
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
  Dwarf_Addr bias = 0;
  Dwarf* debug = module == nullptr ? nullptr : dwfl_module_getdwarf(module, &bias);
  if (debug == nullptr) return found;
  const char* separate = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &separate);
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int count = dwfl_module_build_id(module, &bits, &where);
  if (separate != nullptr && count > 0 && is_file(separate)) found.push_back({hex_digits(bits, count), separate});
  add_alternate(debug, separate != nullptr ? separate : path, found);
  return found;
}

}  // namespace reweave

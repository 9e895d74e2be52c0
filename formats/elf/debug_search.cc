#include "formats/elf/debug_search.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "formats/elf/debug_session.h"

namespace reweave {
namespace {

namespace fs = std::filesystem;

constexpr Dwfl_Callbacks kCallbacks = offline_callbacks(dwfl_standard_find_debuginfo);

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Adds the supplementary file that the debug information `of` at `path` refers to (.gnu_debugaltlink).
void add_alternate(Dwarf* of, const std::string& path, std::vector<FoundDebugFile>& found) {
  const char* name = nullptr;
  const void* bits = nullptr;
  const ssize_t count = dwelf_dwarf_gnu_debugaltlink(of, &name, &bits);
  if (count <= 0) return;
  const std::string id = hex_digits(static_cast<const unsigned char*>(bits), static_cast<std::size_t>(count));
  const fs::path places[] = {fs::path("/usr/lib/debug/.build-id") / id.substr(0, 2) / (id.substr(2) + ".debug"),
                             fs::path(path).parent_path() / name};
  for (const fs::path& place : places) {
    if (!is_file(place)) continue;
    found.push_back({id, place.string()});
    return;
  }
}

}  // namespace

std::vector<FoundDebugFile> find_debug_files(Fd file, const std::string& path) {
  std::vector<FoundDebugFile> found;
  const std::unique_ptr<Dwfl, void (*)(Dwfl*)> dwfl(dwfl_begin(&kCallbacks), dwfl_end);
  if (dwfl == nullptr) return found;
  Dwfl_Module* module = report_file(dwfl.get(), std::move(file), path);
  Dwarf_Addr bias = 0;
  Dwarf* debug = module == nullptr ? nullptr : dwfl_module_getdwarf(module, &bias);
  if (debug == nullptr) return found;
  const char* separate = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &separate);
  const std::string build_id = module_build_id(module);
  if (separate != nullptr && !build_id.empty() && is_file(separate)) found.push_back({build_id, separate});
  add_alternate(debug, separate != nullptr ? separate : path, found);
  return found;
}

}  // namespace reweave

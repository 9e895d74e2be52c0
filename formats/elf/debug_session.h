// Starts sessions of elfutils' libdwfl in the same way for finding debug information and for reading it.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>

#include "formats/base/fd.h"
#include "formats/base/hex.h"

namespace reweave {

inline char* no_debug_path = nullptr;  // null: elfutils searches where distributions put debug information

// Callbacks of a session for files that are not loaded; `find` looks for separate debug information.
constexpr Dwfl_Callbacks offline_callbacks(decltype(Dwfl_Callbacks::find_debuginfo) find) {
  return {.find_elf = dwfl_build_id_find_elf,
          .find_debuginfo = find,
          .section_address = dwfl_offline_section_address,
          .debuginfo_path = &no_debug_path};
}

// Makes the open file `file`, which was at `path`, the only module of the session; null if it is not an ELF file.
inline Dwfl_Module* report_file(Dwfl* dwfl, Fd file, const std::string& path) {
  dwfl_report_begin(dwfl);
  Dwfl_Module* module = dwfl_report_offline(dwfl, path.c_str(), path.c_str(), file.get());
  if (module != nullptr) file.release();  // the session owns it now
  dwfl_report_end(dwfl, nullptr, nullptr);
  return module;
}

// The module's build-id in hex; empty if it has none.
inline std::string module_build_id(Dwfl_Module* module) {
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int count = dwfl_module_build_id(module, &bits, &where);
  return count > 0 ? hex_digits(bits, static_cast<std::size_t>(count)) : std::string();
}

}  // namespace reweave

// Sections of an ELF file by name.
#pragma once

#include <string>

#include "formats/base/fd.h"

namespace reweave {

// The contents of the section; empty if the file has none of that name, or is no ELF file. The file may be hostile.
std::string section_of(const Fd& file, const std::string& name);

}  // namespace reweave

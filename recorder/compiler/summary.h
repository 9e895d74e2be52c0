// The summary of a module for static analysis (formats/code/summary_format.h).
#pragma once

#include <llvm/IR/Module.h>

#include <string>

namespace reweave {

// Returns the assembly that puts the summary into its section; empty if the module defines nothing.
std::string summary_assembly(llvm::Module& module);

}  // namespace reweave

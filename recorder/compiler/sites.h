// The accesses of a function that get a sled.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

#include <vector>

#include "recorder/sled_format.h"

namespace reweave {

// A sled to be put before `at`.
struct SledSite {
  llvm::Instruction* at;
  SledEntry entry;
  llvm::Value* address = nullptr;  // null: a fence
  llvm::Type* type = nullptr;      // of what is accessed
  llvm::Value* value = nullptr;    // null: there is no second operand
};

// True for memory that no other thread can see change, as in sled_sites.
bool is_unshared(const llvm::Value* address);

// Returns the sites in the order of the code. Leaves out only accesses to memory that no other thread can see change:
//  - variables on the stack whose address does not leave the function;
//  - memory that never changes: constants.
// Also leaves out, as a build with -fsanitize=thread does: masked vector operations, what inline assembly accesses,
// memory relative to a segment register, and fences that concern only the compiler. No access is left out as redundant:
// of two reads of a variable, the second shows no further race, but another thread may write between them.
std::vector<SledSite> sled_sites(llvm::Function& function);

}  // namespace reweave

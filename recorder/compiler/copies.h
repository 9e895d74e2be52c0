// Blocks of memory that are copied or set: which ones the program does itself, and which ones the C library does.
//
// Reweave takes over the library's functions and sees what they access. So only what the code generator turns into
// loads and stores gets a sled. It decides by size, and where its decision is hard to foresee, a call is made of it.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>

namespace reweave {

// True if no call becomes of it.
bool is_done_inline(const llvm::AnyMemIntrinsic& block);

// Makes calls of those that might become loads and stores, or a call.
void call_library_for_blocks(llvm::Function& function);

}  // namespace reweave

// Copies and fills of memory blocks: decides which ones become loads and stores, and which ones calls of the C library.
//
// Reweave interposes the library's functions and sees what they access, so only blocks that the code generator turns
// into loads and stores get sleds. It decides by size. Where its decision is hard to predict, the plugin makes the
// block a call.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>

namespace reweave {

// True if the code generator certainly turns `block` into loads and stores, not into a call.
bool is_done_inline(const llvm::AnyMemIntrinsic& block);

// Replaces each block that might become either loads and stores or a call by a call.
void call_library_for_blocks(llvm::Function& function);

}  // namespace reweave

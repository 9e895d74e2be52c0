#include "recorder/compiler/copies.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace reweave {

namespace {

// The most bytes that LLVM 14 always copies or sets inline: when it optimises for speed or size, with registers of 16
// bytes; and without optimisation, where FastISel does it (X86FastISel.cpp).
constexpr std::uint64_t kInline = 64, kInlineUnoptimised = 32;
// More bytes than LLVM ever copies or sets inline, with registers of 32 bytes.
constexpr std::uint64_t kNeverInline = 512;

bool is_element_wise(const llvm::AnyMemIntrinsic& block) { return !llvm::isa<llvm::MemIntrinsic>(block); }

std::uint64_t limit_of(const llvm::AnyMemIntrinsic& block) {
  if (!block.getFunction()->hasOptNone()) return kInline;
  if (llvm::isa<llvm::AnyMemSetInst>(block)) return 0;
  return llvm::isa<llvm::AnyMemMoveInst>(block) ? kInline : kInlineUnoptimised;
}

bool may_be_either(const llvm::AnyMemIntrinsic& block) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(block.getLength());
  return length != nullptr && !is_done_inline(block) && !is_element_wise(block) &&
         length->getValue().ule(kNeverInline) && block.getDestAddressSpace() == 0;
}

const char* function_of(const llvm::AnyMemIntrinsic& block) {
  if (llvm::isa<llvm::AnyMemSetInst>(block)) return "memset";
  return llvm::isa<llvm::AnyMemMoveInst>(block) ? "memmove" : "memcpy";
}

void make_call(llvm::AnyMemIntrinsic& block) {
  llvm::IRBuilder<> builder(&block);
  llvm::Type* bytes = builder.getInt8PtrTy();
  const auto* set = llvm::dyn_cast<llvm::AnyMemSetInst>(&block);
  llvm::Value* second = set != nullptr ? builder.CreateZExt(set->getValue(), builder.getInt32Ty())
                                       : builder.CreatePointerCast(block.getArgOperand(1), bytes);
  llvm::FunctionCallee callee = block.getModule()->getOrInsertFunction(
      function_of(block), bytes, bytes, set != nullptr ? builder.getInt32Ty() : bytes, builder.getInt64Ty());
  llvm::CallInst* call = builder.CreateCall(callee, {builder.CreatePointerCast(block.getRawDest(), bytes), second,
                                                     builder.CreateZExt(block.getLength(), builder.getInt64Ty())});
  call->addFnAttr(llvm::Attribute::NoBuiltin);
  call->setDoesNotThrow();
  block.eraseFromParent();
}

}  // namespace

bool is_done_inline(const llvm::AnyMemIntrinsic& block) {
  if (llvm::isa<llvm::MemCpyInlineInst>(block)) return true;
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(block.getLength());
  return length != nullptr && !is_element_wise(block) && length->getValue().ule(limit_of(block));
}

void call_library_for_blocks(llvm::Function& function) {
  llvm::SmallVector<llvm::AnyMemIntrinsic*, 8> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* block = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction); block != nullptr && may_be_either(*block))
      if (block->getLength()->getType()->getIntegerBitWidth() <= 64) found.push_back(block);
  for (llvm::AnyMemIntrinsic* block : found) make_call(*block);
}

}  // namespace reweave

#include "recorder/compiler/sites.h"

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/AtomicOrdering.h>

#include "recorder/compiler/copies.h"

namespace reweave {

namespace {

// Converts LLVM's atomic ordering to C++'s memory_order.
std::uint8_t order_of(llvm::AtomicOrdering order) { return static_cast<std::uint8_t>(llvm::toCABI(order)); }

bool is_virtual_table(const llvm::Instruction& access) {
  const llvm::MDNode* tag = access.getMetadata(llvm::LLVMContext::MD_tbaa);
  return tag != nullptr && tag->isTBAAVtableAccess();
}

bool is_constant(const llvm::Value* address) {
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(address));
  if (global != nullptr) return global->isConstant();
  // An entry of a virtual table, such as a function's address.
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(address->stripInBoundsOffsets());
  return load != nullptr && is_virtual_table(*load);
}

bool is_private(const llvm::Value* address) {
  if (address->getType()->getPointerAddressSpace() != 0 || address->isSwiftError()) return true;
  const llvm::Value* object = llvm::getUnderlyingObject(address);
  return llvm::isa<llvm::AllocaInst>(object) && !llvm::PointerMayBeCaptured(object, true, true);
}

class Sites {
 public:
  explicit Sites(llvm::Function& function) : layout_(function.getParent()->getDataLayout()) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) look_at(instruction);
  }
  std::vector<SledSite> take() { return std::move(sites_); }

 private:
  void look_at(llvm::Instruction& at) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) return look_at_load(*load);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) return look_at_store(*store);
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&at))
      return add_atomic(at, SledKind::kAtomicRmw, update->getOrdering(), update->getPointerOperand(),
                        update->getValOperand()->getType(), update->getSyncScopeID());
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) return look_at_exchange(*exchange);
    if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&at)) {
      if (fence->getSyncScopeID() != llvm::SyncScope::SingleThread)
        sites_.push_back({&at, {0, SledKind::kFence, order_of(fence->getOrdering()), 0, 0, 0}});
      return;
    }
    if (auto* block = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&at); block != nullptr && is_done_inline(*block))
      look_at_block(*block);
  }

  void look_at_load(llvm::LoadInst& load) {
    if (load.isAtomic())
      return add_atomic(load, SledKind::kAtomicLoad, load.getOrdering(), load.getPointerOperand(), load.getType(),
                        load.getSyncScopeID());
    if (is_constant(load.getPointerOperand())) return;
    add(load, is_virtual_table(load) ? SledKind::kTableRead : SledKind::kRead, load.getPointerOperand(),
        load.getType());
  }

  void look_at_store(llvm::StoreInst& store) {
    llvm::Type* type = store.getValueOperand()->getType();
    if (store.isAtomic())
      return add_atomic(store, SledKind::kAtomicStore, store.getOrdering(), store.getPointerOperand(), type,
                        store.getSyncScopeID());
    const bool table = is_virtual_table(store);
    const std::size_t before = sites_.size();
    add(store, table ? SledKind::kTableUpdate : SledKind::kWrite, store.getPointerOperand(), type);
    if (table && sites_.size() != before) add_value(store.getValueOperand());
  }

  // Whether the exchange will succeed is known at the sled, from the value that it expects.
  void look_at_exchange(llvm::AtomicCmpXchgInst& exchange) {
    llvm::Value* expected = exchange.getCompareOperand();
    const std::size_t before = sites_.size();
    add_atomic(exchange, SledKind::kCompareExchange, exchange.getSuccessOrdering(), exchange.getPointerOperand(),
               expected->getType(), exchange.getSyncScopeID());
    if (sites_.size() == before) return;
    SledEntry& entry = sites_.back().entry;
    entry.order = static_cast<std::uint8_t>(entry.order | order_of(exchange.getFailureOrdering()) << 4);
    if (entry.bytes > 8) {
      entry.kind = SledKind::kAtomicRmw;  // the value needs two registers: the exchange is assumed to succeed
      entry.order &= 0xf;
      return;
    }
    add_value(expected);
  }

  void add_value(llvm::Value* value) {
    sites_.back().value = value;
    sites_.back().entry.operands = 2;
  }

  // The read and the write of a copy are one schedule point.
  void look_at_block(llvm::AnyMemIntrinsic& block) {
    const std::size_t before = sites_.size();
    const auto* copy = llvm::dyn_cast<llvm::AnyMemTransferInst>(&block);
    if (copy != nullptr && !is_constant(copy->getRawSource()))
      add_range(block, SledKind::kReadRange, copy->getRawSource(), 0);
    add_range(block, SledKind::kWriteRange, block.getRawDest(),
              sites_.size() > before ? kSledSamePoint : std::uint8_t{0});
  }

  void add_range(llvm::AnyMemIntrinsic& at, SledKind kind, llvm::Value* address, std::uint8_t flags) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(at.getLength());
    if (length == nullptr || length->isZero() || is_private(address)) return;
    const auto bytes = static_cast<std::uint32_t>(length->getLimitedValue(UINT32_MAX));
    sites_.push_back({&at, {0, kind, 0, flags, 1, bytes}, address, llvm::Type::getInt8Ty(at.getContext())});
  }

  void add_atomic(llvm::Instruction& at, SledKind kind, llvm::AtomicOrdering order, llvm::Value* address,
                  llvm::Type* type, llvm::SyncScope::ID scope) {
    if (scope == llvm::SyncScope::SingleThread) return;
    const std::size_t before = sites_.size();
    add(at, kind, address, type);
    if (sites_.size() != before) sites_.back().entry.order = order_of(order);
  }

  void add(llvm::Instruction& at, SledKind kind, llvm::Value* address, llvm::Type* type) {
    const llvm::TypeSize size = layout_.getTypeStoreSize(type);
    if (size.isScalable() || size.getFixedSize() == 0 || is_private(address)) return;
    const auto bytes = static_cast<std::uint32_t>(size.getFixedSize());
    sites_.push_back({&at, {0, kind, 0, 0, 1, bytes}, address, type});
  }

  const llvm::DataLayout& layout_;
  std::vector<SledSite> sites_;
};

}  // namespace

bool is_unshared(const llvm::Value* address) { return is_private(address) || is_constant(address); }

std::vector<SledSite> sled_sites(llvm::Function& function) { return Sites(function).take(); }

}  // namespace reweave

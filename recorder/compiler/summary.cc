#include "recorder/compiler/summary.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <map>
#include <tuple>
#include <vector>

#include "formats/code/summary_format.h"
#include "recorder/compiler/sites.h"

namespace reweave {

namespace {

class Bytes {
 public:
  Bytes& number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
    return *this;
  }
  Bytes& distance(std::int64_t value) {
    return number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  Bytes& text(llvm::StringRef value) {
    number(value.size());
    text_.append(value.data(), value.size());
    return *this;
  }
  Bytes& op(SummaryOp value) { return number(static_cast<std::uint64_t>(value)); }
  Bytes& append(const Bytes& other) {
    text_ += other.text_;
    return *this;
  }
  const std::string& get() const { return text_; }

 private:
  std::string text_;
};

// A list that is written with its count in front.
struct List {
  std::uint64_t count = 0;
  Bytes bytes;
  Bytes whole() const {
    Bytes result;
    result.number(count).append(bytes);
    return result;
  }
};

// True for types whose values may hold a pointer.
bool may_point(const llvm::Type* type) {
  if (type->isPointerTy() || type->isIntegerTy(64)) return true;
  if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(type)) return may_point(vector->getElementType());
  const auto* aggregate = llvm::dyn_cast<llvm::StructType>(type);
  if (aggregate == nullptr) return type->isArrayTy() && may_point(type->getArrayElementType());
  for (const llvm::Type* element : aggregate->elements())
    if (may_point(element)) return true;
  return false;
}

// The functions of a module, whose texts, symbols and places they share.
class ModuleSummary {
 public:
  explicit ModuleSummary(llvm::Module& module) : layout_(module.getDataLayout()) {
    for (llvm::GlobalVariable& variable : module.globals())
      if (!variable.isDeclaration() && !variable.getName().startswith("llvm.")) symbol(&variable);
    // Constructors of the program run before main: they are what this list of LLVM points to.
    if (const llvm::GlobalVariable* list = module.getNamedGlobal("llvm.global_ctors"))
      if (list->hasInitializer()) symbol(list);
    for (llvm::Function& function : module)
      if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage()) add(function);
  }

  std::string take() {
    describe_symbols();
    Bytes rest;
    rest.append(texts_.whole()).append(symbols_.whole()).append(places_.whole()).append(functions_.whole());
    const auto length = static_cast<std::uint32_t>(rest.get().size());
    std::string result = kSummaryMagic;
    for (int shift = 0; shift < 32; shift += 8) result += static_cast<char>(length >> shift & 0xff);
    return functions_.count == 0 && symbols_.count == 0 ? "" : result + rest.get();
  }

  std::uint64_t text(llvm::StringRef value) {
    const auto [place, is_new] = text_numbers_.try_emplace(value, texts_.count);
    if (is_new) texts_.count++, texts_.bytes.text(value);
    return place->second;
  }

  std::uint64_t symbol(const llvm::GlobalValue* value) {
    return symbol_numbers_.insert({value, symbol_numbers_.size()}).first->second;
  }

  std::uint64_t place(const llvm::DILocation* location, const llvm::Function& function) {
    if (location == nullptr) return place_of(0, function.getSubprogram(), nullptr, function);
    return place_of(location->getLine(), location->getScope()->getSubprogram(), location->getInlinedAt(), function);
  }

  // Offset of what the address points to, from its base. Indexes of arrays are left out, but for virtual tables.
  std::int64_t field_offset(const llvm::GEPOperator& address) const {
    std::int64_t offset = 0;
    llvm::APInt whole(layout_.getIndexTypeSizeInBits(address.getType()), 0);
    const llvm::Type* element = address.getSourceElementType();
    const bool is_slot = element->isPointerTy() && element->getPointerElementType()->isFunctionTy();
    if ((is_slot || is_virtual_table(address.getPointerOperand())) && address.accumulateConstantOffset(layout_, whole))
      return whole.getSExtValue();
    for (auto at = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); at != end; ++at) {
      const auto* index = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand());
      if (index == nullptr) continue;
      if (llvm::StructType* type = at.getStructTypeOrNull())
        offset += static_cast<std::int64_t>(
            layout_.getStructLayout(type)->getElementOffset(static_cast<unsigned>(index->getZExtValue())));
      else if (at.getIndexedType()->isIntegerTy(8) && address.getNumIndices() == 1)
        offset += index->getSExtValue();  // the optimiser's form of an offset in a structure
    }
    return offset;
  }

  // Resolves a constant to a symbol and an offset in it; null if it points to none.
  const llvm::GlobalValue* target_of(const llvm::Constant* value, std::int64_t& offset) const {
    if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(value)) return target_of(alias->getAliasee(), offset);
    if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(value)) return global;
    const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(value);
    if (expression == nullptr) return nullptr;
    if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(expression)) offset += field_offset(*address);
    for (const llvm::Use& operand : expression->operands())
      if (const auto* target = target_of(llvm::cast<llvm::Constant>(operand), offset)) return target;
    return nullptr;
  }

 private:
  void add(llvm::Function& function);

  std::uint64_t place_of(unsigned line, const llvm::DISubprogram* scope, const llvm::DILocation* inlined_at,
                         const llvm::Function& function) {
    const std::uint64_t outer = inlined_at == nullptr ? 0 : place(inlined_at, function) + 1;
    const auto key = std::make_tuple(line, static_cast<const void*>(scope), outer,
                                     scope == nullptr ? static_cast<const void*>(&function) : nullptr);
    const auto [found, is_new] = place_numbers_.insert({key, places_.count});
    if (!is_new) return found->second;
    const std::uint64_t file = text(scope == nullptr ? "" : path_of(scope->getFile()));
    const llvm::StringRef name = scope == nullptr                  ? function.getName()
                                 : scope->getLinkageName().empty() ? scope->getName()
                                                                   : scope->getLinkageName();
    places_.bytes.number(file).number(line).number(text(name)).number(outer);
    return places_.count++;
  }

  static std::string path_of(const llvm::DIFile* file) {
    if (file == nullptr) return "";
    if (file->getFilename().startswith("/") || file->getDirectory().empty()) return file->getFilename().str();
    return (file->getDirectory() + "/" + file->getFilename()).str();
  }

  // Symbols may be added while initial values are described.
  void describe_symbols() {
    for (std::size_t i = 0; i < symbol_numbers_.size(); i++) describe(*(symbol_numbers_.begin() + i)->first);
    symbols_.count = symbol_numbers_.size();
  }

  void describe(const llvm::GlobalValue& value) {
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
    const bool is_defined = !value.isDeclaration();
    const unsigned flags = (llvm::isa<llvm::Function>(value) ? kFunctionSymbol : 0) |
                           (is_defined ? kDefinedSymbol : 0) | (value.hasLocalLinkage() ? kInternalSymbol : 0) |
                           (value.isThreadLocal() ? kThreadLocalSymbol : 0) |
                           (variable != nullptr && variable->isConstant() ? kConstantSymbol : 0);
    llvm::Type* type = value.getValueType();
    const std::uint64_t bytes =
        variable != nullptr && type->isSized() ? layout_.getTypeAllocSize(type).getFixedSize() : 0;
    symbols_.bytes.number(text(value.getName())).number(flags).number(bytes);
    if (variable == nullptr || !is_defined) return;
    List pointers, members;
    if (variable->hasInitializer()) add_pointers(variable->getInitializer(), 0, pointers, is_virtual_table(variable));
    llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> described;
    variable->getDebugInfo(described);
    const llvm::DIGlobalVariable* told = described.empty() ? nullptr : described.front()->getVariable();
    if (told != nullptr) add_members(told->getType(), 0, "", members, 0);
    symbols_.bytes.append(pointers.whole()).append(members.whole());
    symbols_.bytes.number(text(told == nullptr ? "" : path_of(told->getFile())));
    symbols_.bytes.number(told == nullptr ? 0 : told->getLine());
  }

  static bool is_virtual_table(const llvm::Value* value) { return value->getName().startswith("_ZTV"); }

  void add_pointers(const llvm::Constant* value, std::uint64_t at, List& list, bool keeps_indexes) {
    if (const auto* structure = llvm::dyn_cast<llvm::ConstantStruct>(value)) {
      const llvm::StructLayout* offsets = layout_.getStructLayout(structure->getType());
      for (unsigned i = 0; i < structure->getNumOperands(); i++)
        add_pointers(structure->getOperand(i), at + offsets->getElementOffset(i), list, keeps_indexes);
      return;
    }
    if (llvm::isa<llvm::ConstantArray>(value)) {
      const llvm::Type* element = value->getType()->getArrayElementType();
      const bool has_slots = element->isPointerTy() && element->getPointerElementType()->isFunctionTy();
      for (unsigned i = 0; i < value->getNumOperands(); i++) {
        const auto* each = llvm::cast<llvm::Constant>(value->getOperand(i));
        // A call may take its function by a constant index or by any other.
        if (keeps_indexes || (has_slots && i > 0)) add_pointers(each, at + i * 8ull, list, keeps_indexes);
        if (!keeps_indexes) add_pointers(each, at, list, false);
      }
      return;
    }
    std::int64_t offset = 0;
    const llvm::GlobalValue* target = target_of(value, offset);
    if (target == nullptr) return;
    list.count++;
    list.bytes.number(at).number(symbol(target)).distance(offset);
  }

  // The names of a variable's members, down to members of members.
  void add_members(const llvm::DIType* type, std::uint64_t at, const std::string& name, List& list, int depth) {
    constexpr std::uint64_t kMost = 200;
    constexpr int kDeepest = 6;
    while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
      if (derived->getTag() == llvm::dwarf::DW_TAG_pointer_type) break;
      type = derived->getBaseType();
    }
    const auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(type);
    if (composite != nullptr && composite->getTag() == llvm::dwarf::DW_TAG_array_type)
      return add_members(composite->getBaseType(), at, name + "[]", list, depth + 1);
    bool has_members = false;
    if (composite != nullptr && depth < kDeepest)
      for (const llvm::DINode* element : composite->getElements()) {
        const auto* member = llvm::dyn_cast<llvm::DIDerivedType>(element);
        if (member == nullptr || member->isStaticMember() || list.count >= kMost) continue;
        const bool is_base = member->getTag() == llvm::dwarf::DW_TAG_inheritance;
        if (!is_base && member->getTag() != llvm::dwarf::DW_TAG_member) continue;
        has_members = true;
        const std::string inner = is_base ? name : (name + "." + member->getName()).str();
        add_members(member->getBaseType(), at + member->getOffsetInBits() / 8, inner, list, depth + 1);
      }
    if (has_members || name.empty() || list.count >= kMost) return;
    list.count++;
    list.bytes.number(at).number(text(name));
  }

  const llvm::DataLayout& layout_;
  List texts_, symbols_, places_, functions_;
  llvm::StringMap<std::uint64_t> text_numbers_;
  llvm::MapVector<const llvm::GlobalValue*, std::uint64_t> symbol_numbers_;
  std::map<std::tuple<unsigned, const void*, std::uint64_t, const void*>, std::uint64_t> place_numbers_;
};

class FunctionSummary {
 public:
  FunctionSummary(ModuleSummary& module, llvm::Function& function) : module_(module), function_(function) {
    for (const llvm::Argument& argument : function.args()) node(&argument);
    std::uint64_t number = 0;
    for (const llvm::BasicBlock& block : function) blocks_[&block] = number++;
  }

  Bytes take() {
    List blocks;
    for (llvm::BasicBlock& block : function_) {
      List successors;
      for (const llvm::BasicBlock* next : llvm::successors(&block)) {
        if (never_goes_to(block, next)) continue;
        successors.count++;
        successors.bytes.number(blocks_[next]);
      }
      ops_ = {};
      for (llvm::Instruction& each : block) add(each);
      blocks.count++;
      blocks.bytes.append(successors.whole()).append(ops_.whole());
    }
    Bytes result;
    result.number(module_.symbol(&function_));
    return result.number(function_.arg_size()).number(nodes_.size()).append(blocks.whole());
  }

 private:
  // libstdc++ asks whether there are threads before it locks. There are.
  static bool never_goes_to(const llvm::BasicBlock& block, const llvm::BasicBlock* next) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch == nullptr || branch->isUnconditional()) return false;
    const auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    const auto* asked = test == nullptr ? nullptr : llvm::dyn_cast<llvm::CallBase>(test->getOperand(0));
    const llvm::Function* callee = asked == nullptr ? nullptr : asked->getCalledFunction();
    if (callee == nullptr || !callee->getName().contains("__gthread_active_p")) return false;
    return next == branch->getSuccessor(test->getPredicate() == llvm::CmpInst::ICMP_NE ? 1 : 0);
  }

  std::uint64_t node(const llvm::Value* value) { return nodes_.insert({value, nodes_.size()}).first->second; }
  std::uint64_t result(const llvm::Value& value) { return may_point(value.getType()) ? node(&value) + 1 : 0; }
  std::uint64_t place(const llvm::Instruction& at) { return module_.place(at.getDebugLoc().get(), function_); }

  void put_operand(const llvm::Value* value) {
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      std::int64_t offset = 0;
      const llvm::GlobalValue* target = module_.target_of(constant, offset);
      if (target == nullptr) {
        ops_.bytes.number(0);
      } else {
        ops_.bytes.number((offset == 0 ? 2 : 3) + 3 * module_.symbol(target));
        if (offset != 0) ops_.bytes.distance(offset);
      }
      return;
    }
    const bool is_value = llvm::isa<llvm::Argument>(value) || llvm::isa<llvm::Instruction>(value);
    ops_.bytes.number(is_value && may_point(value->getType()) ? 1 + 3 * node(value) : 0);
  }

  Bytes& begin(SummaryOp op) {
    ops_.count++;
    return ops_.bytes.op(op);
  }

  void copy(const llvm::Value& to, const llvm::Value* from) {
    if (!may_point(to.getType()) || !may_point(from->getType()) || is_plain_constant(from)) return;
    begin(SummaryOp::kCopy).number(node(&to));
    put_operand(from);
  }

  bool is_plain_constant(const llvm::Value* value) const {
    std::int64_t offset = 0;
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    return constant != nullptr && module_.target_of(constant, offset) == nullptr;
  }

  // A variable whose address is used for nothing but whole loads and stores is one node.
  static const llvm::AllocaInst* plain_variable(const llvm::Value* address) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(address);
    return variable != nullptr && llvm::isAllocaPromotable(variable) ? variable : nullptr;
  }

  std::uint64_t bytes_of(llvm::Type* type) const {
    const llvm::TypeSize size = function_.getParent()->getDataLayout().getTypeStoreSize(type);
    return size.isScalable() ? 0 : size.getFixedSize();
  }

  unsigned flags_of(const llvm::Value* address, bool atomic) const {
    return (atomic ? kAtomicAccess : 0) | (is_unshared(address) ? kPrivateAccess : 0);
  }

  void load(const llvm::Instruction& at, const llvm::Value* address, llvm::Type* type, bool atomic) {
    begin(SummaryOp::kLoad).number(result(at));
    put_operand(address);
    ops_.bytes.number(bytes_of(type)).number(flags_of(address, atomic)).number(place(at));
  }

  void store(const llvm::Instruction& at, const llvm::Value* address, const llvm::Value* value, unsigned flags) {
    begin(SummaryOp::kStore);
    put_operand(address);
    put_operand(value);
    ops_.bytes.number(bytes_of(value->getType())).number(flags).number(place(at));
  }

  // The first index that varies; null if none does. A variable stands for what is read from it.
  static const llvm::Value* varying_index(const llvm::GetElementPtrInst& address) {
    for (const llvm::Use& each : address.indices()) {
      const llvm::Value* index = each;
      while (llvm::isa<llvm::SExtInst>(index) || llvm::isa<llvm::ZExtInst>(index))
        index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
      if (llvm::isa<llvm::Constant>(index)) continue;
      const auto* read = llvm::dyn_cast<llvm::LoadInst>(index);
      const llvm::AllocaInst* variable = read == nullptr ? nullptr : plain_variable(read->getPointerOperand());
      return variable == nullptr ? index : variable;
    }
    return nullptr;
  }

  void add(const llvm::Instruction& at);
  void add_call(const llvm::CallBase& call);
  void add_block(const llvm::AnyMemIntrinsic& block);

  ModuleSummary& module_;
  llvm::Function& function_;
  llvm::DenseMap<const llvm::Value*, std::uint64_t> nodes_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint64_t> blocks_;
  List ops_;
};

void FunctionSummary::add(const llvm::Instruction& at) {
  using namespace llvm;
  if (const auto* variable = dyn_cast<AllocaInst>(&at)) {
    if (plain_variable(variable) != nullptr) return;
    begin(SummaryOp::kStackObject)
        .number(node(variable))
        .number(bytes_of(variable->getAllocatedType()))
        .number(place(at));
  } else if (const auto* read = dyn_cast<LoadInst>(&at)) {
    if (const AllocaInst* variable_read = plain_variable(read->getPointerOperand())) {
      if (!may_point(read->getType())) return;
      begin(SummaryOp::kCopy).number(node(read)).number(1 + 3 * node(variable_read));
    } else {
      load(at, read->getPointerOperand(), read->getType(), read->isAtomic());
    }
  } else if (const auto* write = dyn_cast<StoreInst>(&at)) {
    const Value* value = write->getValueOperand();
    if (const AllocaInst* written = plain_variable(write->getPointerOperand())) {
      if (!may_point(value->getType()) || is_plain_constant(value)) return;
      begin(SummaryOp::kCopy).number(node(written));
      put_operand(value);
    } else {
      store(at, write->getPointerOperand(), value, flags_of(write->getPointerOperand(), write->isAtomic()));
    }
  } else if (const auto* update = dyn_cast<AtomicRMWInst>(&at)) {
    const unsigned flags = flags_of(update->getPointerOperand(), true);
    if (may_point(at.getType())) load(at, update->getPointerOperand(), at.getType(), true);
    store(at, update->getPointerOperand(), update->getValOperand(), flags | kUpdateAccess);
  } else if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&at)) {
    const unsigned flags = flags_of(exchange->getPointerOperand(), true);
    if (may_point(at.getType())) load(at, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(), true);
    store(at, exchange->getPointerOperand(), exchange->getNewValOperand(), flags | kUpdateAccess);
  } else if (const auto* address = dyn_cast<GetElementPtrInst>(&at)) {
    const std::int64_t offset = module_.field_offset(*cast<GEPOperator>(address));
    if (offset == 0 && address->hasAllConstantIndices()) return copy(at, address->getPointerOperand());
    const Value* index = varying_index(*address);
    begin(index == nullptr ? SummaryOp::kField : SummaryOp::kElement).number(node(address));
    put_operand(address->getPointerOperand());
    if (index != nullptr) ops_.bytes.number(1 + 3 * node(index));
    ops_.bytes.distance(offset);
  } else if (const auto* block = dyn_cast<AnyMemIntrinsic>(&at)) {
    add_block(*block);
  } else if (const auto* call = dyn_cast<CallBase>(&at)) {
    add_call(*call);
  } else if (const auto* end = dyn_cast<ReturnInst>(&at)) {
    begin(SummaryOp::kReturn);
    if (end->getReturnValue() == nullptr)
      ops_.bytes.number(0);
    else
      put_operand(end->getReturnValue());
  } else if (isa<CastInst>(at) || isa<PHINode>(at) || isa<FreezeInst>(at) || isa<ExtractValueInst>(at) ||
             isa<InsertValueInst>(at) || isa<ExtractElementInst>(at) || isa<InsertElementInst>(at) ||
             isa<ShuffleVectorInst>(at)) {
    for (const Use& operand : at.operands())
      if (!isa<BasicBlock>(operand)) copy(at, operand);
  } else if (const auto* choice = dyn_cast<SelectInst>(&at)) {
    copy(at, choice->getTrueValue());
    copy(at, choice->getFalseValue());
  } else if (const auto* arithmetic = dyn_cast<BinaryOperator>(&at)) {
    // Pointers with marks in their lowest bits.
    for (const Use& operand : arithmetic->operands())
      if (isa<PtrToIntInst>(operand)) copy(at, operand);
  }
}

void FunctionSummary::add_call(const llvm::CallBase& call) {
  if (call.isInlineAsm() || llvm::isa<llvm::IntrinsicInst>(call)) return;
  begin(SummaryOp::kCall).number(result(call));
  put_operand(call.getCalledOperand());
  ops_.bytes.number(call.arg_size());
  for (const llvm::Use& argument : call.args()) put_operand(argument);
  ops_.bytes.number(place(call));
}

void FunctionSummary::add_block(const llvm::AnyMemIntrinsic& block) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(block.getLength());
  const auto* copied = llvm::dyn_cast<llvm::AnyMemTransferInst>(&block);
  begin(copied != nullptr ? SummaryOp::kCopyBlock : SummaryOp::kSetBlock);
  put_operand(block.getRawDest());
  if (copied != nullptr) put_operand(copied->getRawSource());
  ops_.bytes.number(length == nullptr ? 0 : length->getLimitedValue()).number(place(block));
}

void ModuleSummary::add(llvm::Function& function) {
  functions_.count++;
  functions_.bytes.append(FunctionSummary(*this, function).take());
}

}  // namespace

std::string summary_assembly(llvm::Module& module) {
  const std::string summary = ModuleSummary(module).take();
  if (summary.empty()) return "";
  constexpr std::size_t kLine = 4096;
  constexpr char kDigits[] = "01234567";
  std::string text = std::string("\t.pushsection ") + kSummarySection + ",\"\",@progbits\n";
  for (std::size_t at = 0; at < summary.size(); at += kLine) {
    text += "\t.ascii \"";
    for (const char c : summary.substr(at, kLine)) {
      const auto byte = static_cast<unsigned char>(c);
      text += '\\';
      for (int shift = 6; shift >= 0; shift -= 3) text += kDigits[byte >> shift & 7];
    }
    text += "\"\n";
  }
  return text + "\t.popsection\n";
}

}  // namespace reweave

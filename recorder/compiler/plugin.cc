// The clang plugin of reweave-cc: puts a sled before every access that other threads may see, and lists it in a table
// (recorder/sled_format.h).
//
// A sled is inline assembly. It describes the operand to the run-time part by an instruction in the table that computes
// it, so that the code grows by only five bytes. Sleds are added after optimisation; later passes may not move accesses
// past them.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "recorder/compiler/copies.h"
#include "recorder/compiler/sites.h"
#include "recorder/compiler/summary.h"

using namespace reweave;  // NOLINT: the plugin's entry is global

namespace {

// The run-time part finds the table through this note. The symbols are weak because a linker that drops unused sections
// may drop all entries.
constexpr const char* kNote =
    "\t.pushsection .note.reweave, \"a\", @note\n"
    "\t.balign 4\n"
    "\t.long 8, 8, 1\n"
    "\t.asciz \"Reweave\"\n"
    "\t.weak __start_reweave_sleds\n\t.hidden __start_reweave_sleds\n"
    "\t.weak __stop_reweave_sleds\n\t.hidden __stop_reweave_sleds\n"
    "\t.long __start_reweave_sleds - ., __stop_reweave_sleds - .\n"
    "\t.popsection\n";
static_assert(sizeof kSledNoteName == 8 && sizeof(SledNote) == 8 && kSledNoteType == 1);

// `text` as a quoted symbol of inline assembly.
std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '$') result += '$';
    result += c;
  }
  return result + '"';
}

// The name that the assembler knows the function by.
std::string symbol_of(const llvm::Function& function) {
  const llvm::StringRef name = function.getName();
  if (name.startswith("\01")) return quoted(name.drop_front());
  return quoted(function.hasPrivateLinkage() ? (".L" + name).str() : name.str());
}

std::string bytes_of(std::initializer_list<unsigned> bytes) {
  std::string result;
  for (const unsigned byte : bytes) result += (result.empty() ? "" : ",") + std::to_string(byte);
  return result;
}

// The entry is in the function's group, if there is one, and is linked to the function's section. So the linker drops
// it together with the function.
std::string assembly(const SledSite& site, const std::string& symbol) {
  const SledEntry& entry = site.entry;
  std::string text = ".Lsled${:uid}:\n\t.byte " + bytes_of({kSled[0], kSled[1], kSled[2], kSled[3], kSled[4]}) + "\n";
  text += "\t.pushsection reweave_sleds,\"ao?\",@progbits," + symbol + "\n\t.balign 4\n";
  text += "\t.long .Lsled${:uid}-.\n\t.byte " +
          bytes_of({static_cast<unsigned>(entry.kind), entry.order, entry.flags, entry.operands}) + "\n\t.long " +
          std::to_string(entry.bytes) + "\n";
  if (entry.operands >= 1) text += "\tleaq $0, %rdi\n";
  if (entry.operands >= 2) text += "\tleaq (${1:q}), %rdi\n";
  return text + "\t.popsection";
}

// Converts `value` to an integer of a register's width. The run-time part compares as many bytes as the access has.
llvm::Value* in_register(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* wide = builder.getInt64Ty();
  if (value->getType()->isPointerTy()) return builder.CreatePtrToInt(value, wide);
  return builder.CreateZExtOrTrunc(value, wide);
}

void put_sled(const SledSite& site, const std::string& symbol) {
  llvm::IRBuilder<> builder(site.at);
  llvm::SmallVector<llvm::Type*, 2> types;
  llvm::SmallVector<llvm::Value*, 2> values;
  std::string operands;
  if (site.address != nullptr) {
    types.push_back(site.address->getType());
    values.push_back(site.address);
    operands = "*m";
  }
  if (site.value != nullptr) {
    types.push_back(builder.getInt64Ty());
    values.push_back(in_register(builder, site.value));
    // The exchange needs this value in rax anyway.
    operands += site.entry.kind == SledKind::kCompareExchange ? ",{rax}" : ",r";
  }
  // The code generator may not move an access past the sled of another one. The flags are clobbered so that the code
  // that counts an access may change them.
  operands += operands.empty() ? "~{memory},~{flags}" : ",~{memory},~{flags}";
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
  llvm::CallInst* call = builder.CreateCall(llvm::InlineAsm::get(type, assembly(site, symbol), operands, true), values);
  if (site.address != nullptr)
    call->addParamAttr(0, llvm::Attribute::get(call->getContext(), llvm::Attribute::ElementType, site.type));
  call->setDoesNotThrow();
}

// Marks functions as if for ThreadSanitizer while they are optimised. Then no access is moved to a place where the
// program itself would not make it.
struct MarkFunctions : llvm::PassInfoMixin<MarkFunctions> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) function.addFnAttr(llvm::Attribute::SanitizeThread);
    return llvm::PreservedAnalyses::all();
  }
};

// The summary is made before the optimiser joins and doubles parts of the code: then loops and tests are the user's.
struct Summarise : llvm::PassInfoMixin<Summarise> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    module.appendModuleInlineAsm(summary_assembly(module));
    return llvm::PreservedAnalyses::all();
  }
};

struct PutSleds : llvm::PassInfoMixin<PutSleds> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    bool any = false;
    std::vector<llvm::Function*> functions;  // a copy, because call_library_for_blocks may add declarations
    for (llvm::Function& function : module) functions.push_back(&function);
    for (llvm::Function* each : functions) {
      llvm::Function& function = *each;
      function.removeFnAttr(llvm::Attribute::SanitizeThread);
      if (function.isDeclaration() || function.hasAvailableExternallyLinkage() ||
          function.hasFnAttribute(llvm::Attribute::Naked))
        continue;
      call_library_for_blocks(function);
      const std::vector<SledSite> sites = sled_sites(function);
      if (sites.empty()) continue;
      any = true;
      const std::string symbol = symbol_of(function);
      for (const SledSite& site : sites) put_sled(site, symbol);
    }
    if (!any) return llvm::PreservedAnalyses::none();
    module.appendModuleInlineAsm(kNote);
    return llvm::PreservedAnalyses::none();
  }
};

void add_passes(llvm::PassBuilder& builder) {
  builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(Summarise());
    passes.addPass(MarkFunctions());
  });
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(PutSleds()); });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "reweave-sleds", "1", add_passes};
}

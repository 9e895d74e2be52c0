#include "formats/elf/live_location.h"

#include <dwarf.h>

#include <vector>

namespace reweave {

namespace {

// The stack machine of DWARF expressions.
class Evaluation {
 public:
  Evaluation(const LocationContext& context, std::optional<std::uint64_t> frame_base)
      : context_(context), frame_base_(frame_base) {}

  std::optional<VariableLocation> run(const Dwarf_Op* operations, std::size_t count) {
    if (count == 0) return {};
    for (std::size_t i = 0; i < count; i++) {
      if (operations[i].atom == DW_OP_piece && i > 0) return first_piece(operations[i].number);
      const bool is_last = i + 1 == count || operations[i + 1].atom == DW_OP_piece;
      if (operations[i].atom == DW_OP_stack_value && is_last)
        in_memory_ = false;
      else if (!step(operations[i]) || (!in_memory_ && !is_last))
        return {};
    }
    if (stack_.empty()) return {};
    return VariableLocation{in_memory_, stack_.back()};
  }

 private:
  // The first word of a variable that is in several places, if one place contains all of it.
  std::optional<VariableLocation> first_piece(std::uint64_t bytes) const {
    if (stack_.empty() || bytes < sizeof(std::uint64_t)) return {};
    const std::optional<std::uint64_t> word = in_memory_ ? context_.word_at(stack_.back()) : stack_.back();
    if (!word) return {};
    return VariableLocation{false, *word};
  }

  bool push(std::optional<std::uint64_t> value, std::uint64_t plus = 0) {
    if (value) stack_.push_back(*value + plus);
    return value.has_value();
  }

  // False if the operation cannot be evaluated.
  bool step(const Dwarf_Op& operation) {
    const unsigned atom = operation.atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) return push(atom - DW_OP_lit0);
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
      return push(context_.register_of(atom - DW_OP_breg0), operation.number);
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
      in_memory_ = false;
      return push(context_.register_of(atom - DW_OP_reg0));
    }
    switch (atom) {
      case DW_OP_addr:
        return push(operation.number + context_.bias);
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_const2u:
      case DW_OP_const2s:
      case DW_OP_const4u:
      case DW_OP_const4s:
      case DW_OP_const8u:
      case DW_OP_const8s:
      case DW_OP_constu:
      case DW_OP_consts:
        return push(operation.number);
      case DW_OP_fbreg:
        return push(frame_base_, operation.number);
      case DW_OP_call_frame_cfa:
        return context_.cfa != 0 && push(context_.cfa);
      case DW_OP_plus_uconst:
        return replace([&](std::uint64_t top) { return std::optional(top + operation.number); });
      case DW_OP_deref:
        return replace([&](std::uint64_t top) { return context_.word_at(top); });
      default:
        return false;
    }
  }

  template <typename Function>
  bool replace(const Function& function) {
    if (stack_.empty()) return false;
    const std::optional<std::uint64_t> value = function(stack_.back());
    if (value) stack_.back() = *value;
    return value.has_value();
  }

  const LocationContext& context_;
  std::optional<std::uint64_t> frame_base_;
  std::vector<std::uint64_t> stack_;
  bool in_memory_ = true;
};

std::optional<VariableLocation> evaluate(Dwarf_Die* die, unsigned attribute_name, const LocationContext& context,
                                         std::optional<std::uint64_t> frame_base) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr_integrate(die, attribute_name, &attribute) == nullptr) return {};
  if (dwarf_getlocation_addr(&attribute, context.pc, &operations, &count, 1) != 1) return {};
  return Evaluation(context, frame_base).run(operations, count);
}

}  // namespace

std::optional<VariableLocation> location_of(Dwarf_Die* variable, Dwarf_Die* function, const LocationContext& context) {
  const std::optional<VariableLocation> base = evaluate(function, DW_AT_frame_base, context, {});
  return evaluate(variable, DW_AT_location, context, base ? std::optional(base->value) : std::nullopt);
}

}  // namespace reweave

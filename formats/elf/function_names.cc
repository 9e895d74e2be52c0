#include "formats/elf/function_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace reweave {

namespace {

constexpr std::string_view kLambda = "{lambda}";
constexpr std::string_view kOperator = "operator";
// Prefixes of the names that compilers give to a lambda's class.
constexpr std::array<std::string_view, 4> kLambdaStarts = {"{lambda(", "<lambda(", "'lambda", "{lambda}"};
// Symbols of operators that would otherwise be taken for brackets.
constexpr std::array<std::string_view, 10> kOperatorSymbols = {"()", "<=>", "<<=", ">>=", "->*",
                                                               "<<", ">>",  "->",  "<",   ">"};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Reads a demangled name from beginning to end, and keeps the parts of the short name.
class Shortener {
 public:
  explicit Shortener(std::string_view name) : rest_(name) {}

  std::string result() {
    while (!rest_.empty()) step();
    return std::string(short_);
  }

 private:
  void step() {
    if (take_lambda() || take_operator() || take("(anonymous namespace)::") || take("{anonymous}::")) return;
    if (rest_.starts_with("[abi:")) return drop_brackets('[', ']');
    if (rest_.front() == '<' && !short_.empty()) return drop_brackets('<', '>');
    if (rest_.front() == '(' && !short_.empty()) {
      drop_brackets('(', ')');
      for (const std::string_view qualifier : {" const", " volatile", " &&", " &", " noexcept"}) take(qualifier);
      if (rest_.starts_with(" [clone")) drop_brackets('[', ']');
      return;
    }
    if (rest_.front() == ' ') {  // the text before was the type of the result
      short_.clear();
    } else {
      short_ += rest_.front();
    }
    rest_.remove_prefix(1);
  }

  // Drops `text` if the rest begins with it.
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  bool take_lambda() {
    if (take("$_")) {  // clang's, with a number
      while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
      take("::operator()");
      short_ += kLambda;
      return true;
    }
    const auto start =
        std::ranges::find_if(kLambdaStarts, [&](std::string_view text) { return rest_.starts_with(text); });
    if (start == kLambdaStarts.end()) return false;
    const char first = rest_.front();
    if (first == '\'') {
      rest_.remove_prefix(std::min(rest_.find('\'', 1), rest_.size() - 1) + 1);
      if (!rest_.empty() && rest_.front() == '(') drop_brackets('(', ')');
    } else {
      drop_brackets(first, first == '{' ? '}' : '>');
    }
    take("::operator()");
    short_ += kLambda;
    return true;
  }

  // An operator's name, up to its parameters.
  bool take_operator() {
    if (!rest_.starts_with(kOperator) || (!short_.empty() && in_word(short_.back()))) return false;
    if (rest_.size() > kOperator.size() && in_word(rest_[kOperator.size()])) return false;
    short_ += kOperator;
    rest_.remove_prefix(kOperator.size());
    for (const std::string_view symbol : kOperatorSymbols) {
      if (!take(symbol)) continue;
      short_ += symbol;
      if (rest_.starts_with(" <")) take(" ");  // before template arguments
      return true;
    }
    const std::size_t end = std::min(rest_.find('('), rest_.size());  // "operator new", "operator bool", "operator+"
    short_ += rest_.substr(0, end);
    rest_.remove_prefix(end);
    return true;
  }

  // Drops a pair of brackets with its contents, or everything if it is not closed.
  void drop_brackets(char open, char close) {
    int depth = 0;
    std::size_t at = 0;
    for (; at < rest_.size(); at++) {
      const bool arrow = rest_[at] == '>' && at > 0 && rest_[at - 1] == '-';
      if (rest_[at] == open) depth++;
      if (rest_[at] == close && !arrow && depth > 0 && --depth == 0) break;
    }
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
  }

  std::string_view rest_;
  std::string short_;
};

}  // namespace

std::string short_name(std::string_view demangled) {
  const std::string name = Shortener(demangled).result();
  return name.empty() ? std::string(demangled) : name;
}

}  // namespace reweave

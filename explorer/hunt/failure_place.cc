#include "explorer/hunt/failure_place.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include "formats/base/error.h"
#include "formats/trace/candidates.h"

namespace reweave {

namespace fs = std::filesystem;

bool find_place(const std::string& text, std::string& file, std::uint32_t& line) {
  for (std::size_t open = text.find('('); open != text.npos; open = text.find('(', open + 1)) {
    const std::size_t close = text.find(')', open);
    if (close == text.npos) return false;
    const std::string_view inside = std::string_view(text).substr(open + 1, close - open - 1);
    const std::size_t colon = inside.rfind(':');
    if (colon == inside.npos || colon == 0 || inside.find_first_of(" (`") != inside.npos) continue;
    const std::string_view digits = inside.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
    if (error != std::errc() || end != digits.data() + digits.size()) continue;
    file = inside.substr(0, colon);
    return true;
  }
  return false;
}

std::string path_in_checkout(const std::string& file) {
  std::error_code error;
  const fs::path here = fs::current_path(error), path = fs::path(file).lexically_normal();
  if (error || !path.is_absolute()) return path.string();
  const fs::path below = path.lexically_relative(here);
  return below.empty() || *below.begin() == ".." ? path.string() : below.string();
}

SourcePaths::SourcePaths(const std::string& predictions) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(predictions, none)) {
    if (!entry.path().filename().string().starts_with("candidates-")) continue;
    try {
      for (const CodeSite& site : read_candidates(entry.path().string()).sites)
        if (!site.file.empty()) paths_.try_emplace(fs::path(site.file).filename().string(), site.file);
    } catch (const BadInput&) {  // the prediction had not finished writing it
      continue;
    }
  }
}

void SourcePaths::place(HuntFailure& failure) const {
  if (!find_place(failure.kept.story, failure.file, failure.line)) return;
  if (const auto path = paths_.find(failure.file); path != paths_.end()) failure.file = path_in_checkout(path->second);
}

}  // namespace reweave

// A text file as a stream, decompressed if its first bytes are those of zstd or gzip.
//
// Damage throws BadInput, which names the file. One thread.
#pragma once

#include <istream>
#include <memory>
#include <string>

namespace reweave {

std::unique_ptr<std::istream> open_text(const std::string& path);

}  // namespace reweave

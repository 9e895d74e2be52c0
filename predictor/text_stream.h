// A text file as a stream, decompressed on the way if its first bytes say that it is zstd or gzip.
//
// Damage ends in a BadInput that names the file. One thread.
#pragma once

#include <istream>
#include <memory>
#include <string>

namespace reweave {

std::unique_ptr<std::istream> open_text(const std::string& path);

}  // namespace reweave

// The identity of a file: ELF build-id, or hash of the content. Also stores content under its hash.
#pragma once

#include <cstdint>
#include <string>

#include "formats/recording/manifest.h"

namespace reweave {

// Identity of the file at `path` as it is now: the build-id if it is an ELF file that has one, else the content's hash.
// `stored_name` is left empty. Throws BadInput if it is not a regular file or cannot be opened.
MappedFile identify_file(const std::string& path);

// The build-id, or else the hash of the content.
inline const std::string& identity_of(const MappedFile& file) {
  return file.build_id.empty() ? file.content_hash : file.build_id;
}

// The reason why the file at `wanted.path` is not the recorded one; empty if it is. Times and inodes may differ; only
// the build-id or the content counts.
std::string explain_difference(const MappedFile& wanted);

// xxh3-64 of the content as 16 hex digits; `path` is for messages. Throws SystemError.
std::string content_hash_of(const Fd& file, const std::string& path);

// Copies the content of `source` to the file of `folder` that is named by the content's hash, replacing an equal copy;
// returns the hash. `path` is the path of `source`, for messages.
std::string store_content(const Fd& source, const std::string& path, const Folder& folder);

}  // namespace reweave

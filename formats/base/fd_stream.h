// Standard streams over an open descriptor.
#pragma once

#include <ext/stdio_filebuf.h>

#include <istream>
#include <ostream>

#include "formats/base/fd.h"

namespace reweave {

namespace fd_stream_detail {
// A base class, so that it is constructed before the stream that uses it. Without a descriptor every operation fails.
struct Buffer {
  Buffer(Fd file, std::ios::openmode mode)
      : buffer(file.valid() ? __gnu_cxx::stdio_filebuf<char>(file.release(), mode) : __gnu_cxx::stdio_filebuf<char>()) {
  }
  __gnu_cxx::stdio_filebuf<char> buffer;
};
}  // namespace fd_stream_detail

class FdInput : private fd_stream_detail::Buffer, public std::istream {
 public:
  explicit FdInput(Fd file) : Buffer(std::move(file), std::ios::in | std::ios::binary), std::istream(&buffer) {}
};

// Call close() at the end, then check the stream's state: only that shows whether everything was written.
class FdOutput : private fd_stream_detail::Buffer, public std::ostream {
 public:
  explicit FdOutput(Fd file) : Buffer(std::move(file), std::ios::out | std::ios::binary), std::ostream(&buffer) {}
  void close() {
    if (buffer.close() == nullptr) setstate(std::ios::failbit);
  }
};

}  // namespace reweave

// Standard streams over a descriptor that is open already.
#pragma once

#include <ext/stdio_filebuf.h>

#include <istream>
#include <ostream>

#include "formats/fd.h"

namespace reweave {

namespace fd_stream_detail {
// A base, so that it is made before the stream that uses it. Without a descriptor it is a file that cannot be read.
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

// Call close() in the end, and look at the state: only then is it known that all was written.
class FdOutput : private fd_stream_detail::Buffer, public std::ostream {
 public:
  explicit FdOutput(Fd file) : Buffer(std::move(file), std::ios::out | std::ios::binary), std::ostream(&buffer) {}
  void close() {
    if (buffer.close() == nullptr) setstate(std::ios::failbit);
  }
};

}  // namespace reweave

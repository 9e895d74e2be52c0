#include "predictor/model/text_stream.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <streambuf>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/fd_stream.h"
#include "formats/base/folder.h"

namespace reweave {
namespace {

constexpr std::size_t kBuffer = 1u << 18;

// Fills its buffer by produce(), which returns 0 at the end.
class ProducedText : public std::streambuf {
 protected:
  virtual std::size_t produce(char* to, std::size_t room) = 0;

 private:
  int_type underflow() override {
    const std::size_t size = produce(buffer_.data(), buffer_.size());
    setg(buffer_.data(), buffer_.data(), buffer_.data() + size);
    return size == 0 ? traits_type::eof() : traits_type::to_int_type(buffer_[0]);
  }

  std::vector<char> buffer_ = std::vector<char>(kBuffer);
};

// zlib's reader passes uncompressed data through.
class GzipText : public ProducedText {
 public:
  GzipText(Fd file, const std::string& path) : path_(path), file_(gzdopen(file.get(), "rb")) {
    CHECK(file_ != nullptr);
    file.release();
    gzbuffer(file_, kBuffer);
  }
  ~GzipText() override { gzclose(file_); }

 private:
  std::size_t produce(char* to, std::size_t room) override {
    const int size = gzread(file_, to, static_cast<unsigned>(room));
    int error = Z_OK;
    const char* reason = gzerror(file_, &error);
    REQUIRE(size >= 0 && (error == Z_OK || error == Z_STREAM_END), "{}: {}", path_, reason);
    return static_cast<std::size_t>(size);
  }

  std::string path_;
  gzFile file_;
};

class ZstdText : public ProducedText {
 public:
  ZstdText(Fd file, const std::string& path) : path_(path), in_(std::move(file)), context_(ZSTD_createDCtx()) {}
  ~ZstdText() override { ZSTD_freeDCtx(context_); }

 private:
  std::size_t produce(char* to, std::size_t room) override {
    ZSTD_outBuffer out{to, room, 0};
    while (out.pos == 0) {
      if (input_.pos == input_.size && !refill()) {
        REQUIRE(!inside_frame_, "{}: truncated", path_);
        return 0;
      }
      const std::size_t left = ZSTD_decompressStream(context_, &out, &input_);
      REQUIRE(ZSTD_isError(left) == 0, "{}: {}", path_, ZSTD_getErrorName(left));
      inside_frame_ = left != 0;
    }
    return out.pos;
  }
  bool refill() {
    in_.read(compressed_.data(), static_cast<std::streamsize>(compressed_.size()));
    input_ = {compressed_.data(), static_cast<std::size_t>(in_.gcount()), 0};
    return input_.size > 0;
  }

  std::string path_;
  FdInput in_;
  ZSTD_DCtx* context_;
  std::vector<char> compressed_ = std::vector<char>(kBuffer);
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool inside_frame_ = false;
};

// A stream that owns its buffer.
class TextStream : public std::istream {
 public:
  explicit TextStream(std::unique_ptr<std::streambuf> text) : std::istream(text.get()), text_(std::move(text)) {
    exceptions(std::ios::badbit);  // an exception of the buffer must not look like the end
  }

 private:
  std::unique_ptr<std::streambuf> text_;
};

}  // namespace

std::unique_ptr<std::istream> open_text(const std::string& path) {
  Fd file = open_regular(path);
  std::array<unsigned char, 4> head{};
  SYSCALL_CHECK(::pread(file.get(), head.data(), head.size(), 0), "{}", path);
  constexpr std::array<unsigned char, 4> kZstd{0x28, 0xb5, 0x2f, 0xfd};
  if (head == kZstd) return std::make_unique<TextStream>(std::make_unique<ZstdText>(std::move(file), path));
  return std::make_unique<TextStream>(std::make_unique<GzipText>(std::move(file), path));
}

}  // namespace reweave

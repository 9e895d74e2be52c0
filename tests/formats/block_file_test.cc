// The block container: round trips, columns, errors of the operating system.
#define BOOST_TEST_MODULE block_file
#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <random>

#include "formats/base/block_file.h"
#include "formats/base/column.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  // Content from even seeds compresses well, from odd seeds not at all.
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(seed % 2 == 0 ? random() % 4 : random());
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(blocks_survive) {
  test::Scratch scratch;
  const std::size_t sizes[] = {0, 1, 7, 8, 64, 65, 1000, 300000};
  std::vector<std::uint64_t> offsets;
  {
    BlockWriter writer(scratch / "f", FileType::kEvents, 3);
    for (std::size_t i = 0; i < std::size(sizes); ++i)
      offsets.push_back(writer.write(BlockType::kEvents, pattern(sizes[i], i)));
    writer.finish(offsets[2]);
  }
  BlockReader reader(scratch / "f", FileType::kEvents);
  Block block;
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    BOOST_REQUIRE(reader.next(block));
    const auto expected = pattern(sizes[i], i);
    BOOST_TEST(std::equal(expected.begin(), expected.end(), block.payload().begin(), block.payload().end()));
    BOOST_TEST(block.offset() == offsets[i]);
  }
  BOOST_TEST(!reader.next(block));
  BOOST_TEST(!reader.next(block));
  EndPayload end{};
  BOOST_TEST(reader.read_end(end));
  BOOST_TEST(end.footer_offset == offsets[2]);
}

// Whether a large block is compressed depends on pieces of it, not on earlier blocks.
BOOST_AUTO_TEST_CASE(blocks_are_compressed_where_it_helps) {
  test::Scratch scratch;
  BlockWriter writer(scratch / "f", FileType::kEvents, 3);
  for (const std::uint64_t seed : {0, 1, 3, 2, 5, 4}) {
    const std::uint64_t before = writer.bytes_written();
    writer.write(BlockType::kEvents, pattern(300'000, seed));
    const std::uint64_t stored = writer.bytes_written() - before - sizeof(BlockHeader);
    if (seed % 2 == 0)
      BOOST_TEST(stored < 100'000);
    else
      BOOST_TEST(stored == 300'000);
  }
}

// A block that shrinks little is compressed with the least work.
BOOST_AUTO_TEST_CASE(blocks_that_hardly_shrink_take_less_work) {
  test::Scratch scratch;
  std::vector<std::byte> block = pattern(60'000, 0), rest = pattern(240'000, 1);
  block.insert(block.end(), rest.begin(), rest.end());
  const auto stored_with = [&](int level) {
    BlockWriter writer(scratch / fmt::format("level{}", level), FileType::kEvents, level);
    const std::uint64_t before = writer.bytes_written();
    writer.write(BlockType::kEvents, block);
    return writer.bytes_written() - before - sizeof(BlockHeader);
  };
  const std::uint64_t least_work = stored_with(BlockWriter::kFast);
  BOOST_TEST(least_work < 280'000);
  BOOST_TEST(stored_with(3) == least_work);
}

BOOST_AUTO_TEST_CASE(a_block_over_the_limit_is_our_bug) {
  test::Scratch scratch;
  BlockWriter writer(scratch / "f", FileType::kEvents);
  BOOST_CHECK_THROW(writer.write(BlockType::kEvents, pattern(kMaxRawBytes + 1, 0)), CheckFailed);
}

BOOST_AUTO_TEST_CASE(an_existing_file_is_refused) {
  test::Scratch scratch;
  test::write_bytes(scratch / "f", "precious");
  BOOST_CHECK_THROW(BlockWriter(scratch / "f", FileType::kEvents), BadInput);
  BOOST_TEST(test::read_bytes(scratch / "f") == "precious");
}

// A full disk, simulated by a limit on file sizes.
BOOST_AUTO_TEST_CASE(a_refused_write_names_the_file) {
  test::Scratch scratch;
  BlockWriter writer(scratch / "f", FileType::kEvents);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    writer.write(BlockType::kEvents, pattern(100000, 1));
  } catch (const SystemError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(message.find(scratch / "f") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(varints_survive) {
  ColumnWriter writer;
  std::vector<std::uint64_t> values;
  for (unsigned shift = 0; shift < 64; ++shift)
    for (const std::uint64_t around : {0, 1, 2}) values.push_back((std::uint64_t{1} << shift) - 1 + around);
  values.push_back(~0ull);
  for (const std::uint64_t value : values) {
    const std::size_t before = writer.size();
    writer.put_varint(value);
    BOOST_TEST(writer.size() - before == varint_bytes(value));
    BOOST_TEST(unzigzag(zigzag(value)) == value);
  }
  ColumnReader reader(writer.bytes());
  for (const std::uint64_t value : values) BOOST_TEST(reader.varint() == value);
  reader.expect_end();
  BOOST_CHECK_THROW(reader.varint(), Malformed);
  const std::uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  BOOST_CHECK_THROW(ColumnReader(too_long).varint(), Malformed);
}

BOOST_AUTO_TEST_CASE(errors_gather_context) {
  try {
    with_context([] { return std::string("reading the list"); }, [] { REQUIRE(1 + 1 == 3, "sum is {}", 2); });
    BOOST_FAIL("not thrown");
  } catch (const Error& error) {
    BOOST_TEST(error.what() == std::string("sum is 2\n  while reading the list"));
    BOOST_TEST(error.exit_code() == 2);
  }
  BOOST_CHECK_THROW(CHECK(false), CheckFailed);
  BOOST_CHECK_THROW(SYSCALL_CHECK(::close(-1), "no file"), SystemError);
}

}  // namespace reweave

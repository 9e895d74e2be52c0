// Identity of files, and the copies kept in a recording.
#define BOOST_TEST_MODULE file_identity
#include <boost/test/unit_test.hpp>

#include "formats/recording/file_identity.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "tests/formats/scratch.h"

namespace reweave {

BOOST_AUTO_TEST_CASE(content_is_told_by_its_hash) {
  test::Scratch scratch;
  test::write_bytes(scratch / "f", "content");
  MappedFile file = identify_file(scratch / "f");
  BOOST_TEST(file.size == 7u);
  BOOST_TEST(file.build_id.empty());
  BOOST_TEST(file.content_hash.size() == 16u);
  BOOST_TEST(explain_difference(file).empty());
  test::write_bytes(scratch / "f", "Content");
  BOOST_TEST(!explain_difference(file).empty());
  file.path = scratch / "nothing";
  BOOST_TEST(!explain_difference(file).empty());
}

BOOST_AUTO_TEST_CASE(an_elf_file_is_told_by_its_build_id) {
  // This test itself is an ELF file; whether it has a build-id is the linker's default.
  const MappedFile file = identify_file("/proc/self/exe");
  BOOST_TEST(file.build_id.empty() != file.content_hash.empty());
  BOOST_TEST(explain_difference(file).empty());
}

BOOST_AUTO_TEST_CASE(content_is_kept_once) {
  test::Scratch scratch;
  test::write_bytes(scratch / "a", "same");
  test::write_bytes(scratch / "b", "same");
  RecordingWriter writer(scratch / "r", {});
  Manifest manifest;
  for (const char* name : {"a", "b"}) {
    manifest.files.push_back(identify_file(scratch / name));
    manifest.files.back().stored_name = writer.store_file(open_regular(scratch / name), name);
  }
  writer.finish(manifest);
  BOOST_TEST(manifest.files[0].stored_name == manifest.files[1].stored_name);
  const RecordingReader reader(scratch / "r");
  BOOST_TEST(test::read_bytes(scratch / ("r/files/" + reader.manifest().files[1].stored_name)) == "same");
}

// The stored name becomes part of a path: only a hash may pass.
BOOST_AUTO_TEST_CASE(a_stored_name_cannot_leave_the_recording) {
  test::Scratch scratch;
  Manifest manifest;
  manifest.files.push_back({});
  manifest.files[0].stored_name = "../../etc/passwd";
  RecordingWriter(scratch / "r", {}).finish(manifest);
  BOOST_CHECK_THROW(RecordingReader(scratch / "r"), BadFile);
}

}  // namespace reweave

#define BOOST_TEST_MODULE source_lines
#include "formats/elf/source_lines.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "formats/base/private_folder.h"

using namespace reweave;  // NOLINT
namespace fs = std::filesystem;

namespace {

// The working directory while it exists.
struct Checkout {
  PrivateFolder folder;
  fs::path before = fs::current_path();

  Checkout() {
    fs::create_directories(fs::path(folder.path()) / "src/core");
    std::ofstream(fs::path(folder.path()) / "src/core/queue.c") << "first\nsecond\n";
    std::ofstream(fs::path(folder.path()) / "main.c") << "int main(void);\n";
    fs::current_path(folder.path());
  }
  ~Checkout() { fs::current_path(before); }
};

const std::vector<std::string> kQueue = {"first", "second"}, kNothing;

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_file_is_read_by_its_name, Checkout) {
  BOOST_TEST(source_lines(folder.path() + "/src/core/queue.c") == kQueue);
  BOOST_TEST(source_lines("src/core/queue.c") == kQueue);
}

BOOST_FIXTURE_TEST_CASE(of_another_checkout_the_last_parts_count, Checkout) {
  BOOST_TEST(source_lines("/builds/team/project/src/core/queue.c") == kQueue);
  BOOST_TEST(source_lines("/builds/team/project/other/queue.c") == kNothing);
}

BOOST_FIXTURE_TEST_CASE(one_part_is_not_enough, Checkout) {
  BOOST_TEST(source_lines("/builds/team/project/main.c") == kNothing);
}

BOOST_FIXTURE_TEST_CASE(folders_and_names_that_are_none, Checkout) {
  for (const char* path : {"/builds/src/core", "/", "", "/..", "/x/../src", "src"})
    BOOST_TEST(source_lines(path) == kNothing, path);
}

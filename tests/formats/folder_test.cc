// Opens files below a folder that may come from a stranger, and writes outputs that a user names.
#define BOOST_TEST_MODULE folder
#include "formats/base/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "formats/base/error.h"
#include "formats/base/new_file.h"
#include "formats/base/output_file.h"
#include "formats/base/sandbox.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

namespace fs = std::filesystem;

void write_text(const Fd& file, const std::string& text) { write_fully(file.get(), text, "test"); }

BOOST_AUTO_TEST_CASE(only_regular_files_are_opened_and_no_links_followed) {
  test::Scratch scratch;
  test::write_bytes(scratch / "file", "text");
  fs::create_symlink("file", scratch / "link");
  fs::create_directory(scratch / "folder");
  fs::create_directory_symlink("folder", scratch / "folder-link");
  BOOST_TEST_REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  const Folder folder = Folder::open(scratch / "");
  BOOST_TEST(folder.open_file("file").valid());
  for (const char* name : {"link", "folder", "folder-link", "pipe", "missing"})
    BOOST_CHECK_THROW(folder.open_file(name), BadInput);
  folder.open_folder("folder");
  for (const char* name : {"folder-link", "file", "link", "pipe", "missing"})
    BOOST_CHECK_THROW(folder.open_folder(name), BadInput);
  for (const char* name : {"", ".", "..", "folder/file", "/etc/hostname"})
    BOOST_CHECK_THROW(folder.open_file(name), CheckFailed);
  BOOST_TEST(open_regular(scratch / "link").valid());  // links are allowed where a user names the file
  BOOST_CHECK_THROW(open_regular(scratch / "pipe"), BadInput);
  BOOST_TEST(!try_open_regular(scratch / "pipe").valid());
}

BOOST_AUTO_TEST_CASE(a_new_file_is_refused_early_or_written_whole) {
  test::Scratch scratch;
  test::write_bytes(scratch / "file", "text");
  fs::create_symlink("nowhere", scratch / "link");
  for (const char* name : {"file", "link", "missing/file"}) BOOST_CHECK_THROW(NewFile(scratch / name), BadInput);
  const NewFile file(scratch / "new");
  BOOST_TEST(!fs::exists(scratch / "new"));
  file.write("all of it");
  BOOST_TEST(fs::file_size(scratch / "new") == 9u);
  BOOST_TEST((fs::status(scratch / "new").permissions() == (fs::perms::owner_read | fs::perms::owner_write)));
  BOOST_CHECK_THROW(file.write("again"), BadInput);  // the name exists by now
  BOOST_TEST(fs::file_size(scratch / "new") == 9u);
}

BOOST_AUTO_TEST_CASE(only_new_names_are_written) {
  test::Scratch scratch;
  test::write_bytes(scratch / "precious", "precious");
  fs::create_directory(scratch / "r");
  fs::create_symlink("../precious", scratch / "r/link");
  fs::create_hard_link(scratch / "precious", scratch / "r/hard");
  const Folder folder = Folder::open(scratch / "r");
  for (const char* name : {"link", "hard"}) {
    BOOST_CHECK_THROW(folder.create_file(name), BadInput);
    BOOST_CHECK_THROW(folder.create_folder(name), BadInput);
    BOOST_CHECK_THROW(Folder::create(folder.path_of(name)), BadInput);
    folder.replace_file(name, "other");
    BOOST_TEST(test::read_bytes(folder.path_of(name)) == "other");
    BOOST_TEST(test::read_bytes(scratch / "precious") == "precious");
  }
  struct stat status {};
  BOOST_TEST_REQUIRE(::stat(folder.path_of("link").c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 0777) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_folder_stays_the_one_that_was_opened) {
  test::Scratch scratch;
  const Folder folder = Folder::create(scratch / "r");
  write_text(folder.create_file("file"), "ours");
  fs::rename(scratch / "r", scratch / "moved");
  fs::create_directory(scratch / "r");
  BOOST_TEST(folder.has("file"));
  BOOST_TEST(!Folder::open(scratch / "r").has("file"));
}

BOOST_AUTO_TEST_CASE(an_output_is_replaced_when_it_is_whole) {
  test::Scratch scratch;
  test::write_bytes(scratch / "out", "old");
  {
    OutputFile output(scratch / "out");
    write_text(output.take(), "half");
  }
  BOOST_TEST(test::read_bytes(scratch / "out") == "old");
  BOOST_TEST(std::distance(fs::directory_iterator(scratch / ""), {}) == 1);
  OutputFile output(scratch / "out");
  write_text(output.take(), "new");
  output.commit();
  BOOST_TEST(test::read_bytes(scratch / "out") == "new");
  BOOST_CHECK_THROW(OutputFile(scratch / "missing/out"), BadInput);
  BOOST_CHECK_THROW(OutputFile(scratch / ""), BadInput);
  BOOST_TEST(OutputFile("/dev/null").folder() == nullptr);
}

// Runs `body` in a child process, because the restriction cannot be undone. Returns 0, or a number that tells what
// failed.
int in_child(int (*body)(const std::string& inside, const std::string& outside), const test::Scratch& scratch) {
  const std::string inside = scratch / "inside", outside = scratch / "outside";
  const pid_t child = fork();
  if (child == 0) _exit(body(inside, outside));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int try_all(const std::string& inside, const std::string& outside) {
  const Folder folder = Folder::open(inside);
  const Fd before = Folder::open(outside).create_file("before");
  give_up_writing({&folder});
  const auto refused = [](int fd) { return fd < 0 && errno == EACCES; };
  if (!refused(::open((outside + "/new").c_str(), O_WRONLY | O_CREAT, 0600))) return 1;
  if (!refused(::open((outside + "/before").c_str(), O_WRONLY))) return 2;
  if (!refused(::unlink((outside + "/before").c_str()))) return 3;
  if (!refused(::execl("/bin/true", "true", nullptr))) return 4;
  if (::open((outside + "/before").c_str(), O_RDONLY) < 0) return 5;
  if (::write(before.get(), "x", 1) != 1) return 6;
  folder.replace_file("file", "text");
  if (!folder.remove("file")) return 7;
  return 0;
}

BOOST_AUTO_TEST_CASE(what_was_given_up_cannot_be_done) {
  test::Scratch scratch;
  fs::create_directory(scratch / "inside");
  fs::create_directory(scratch / "outside");
  const bool kernel_can = fs::exists("/proc/sys/kernel") && ::syscall(444, nullptr, 0, 1) > 0;  // Landlock's version
  BOOST_TEST(in_child(try_all, scratch) == (kernel_can ? 0 : 1));
}

}  // namespace
}  // namespace reweave

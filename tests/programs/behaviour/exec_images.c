/* ELF files that are damaged or for another machine, or that have such an interpreter. Errors that the kernel detects
 * early make exec fail. Errors that it detects too late kill the process. */
#include <elf.h>
#include "check.h"

static unsigned char image[1 << 20];
static size_t size;
static char other[64]; /* a file that a program names as its interpreter */

#define FILE_HEADER ((Elf64_Ehdr*)(void*)image)

static Elf64_Phdr* header_of(uint32_t type, int which) {
  Elf64_Phdr* headers = (Elf64_Phdr*)(void*)(image + FILE_HEADER->e_phoff);
  for (int i = 0; i < FILE_HEADER->e_phnum; i++)
    if (headers[i].p_type == type && which-- == 0) return &headers[i];
  CHECK(!"the header is there");
  return NULL;
}

static void name_interpreter(const char* name) {
  Elf64_Phdr* header = header_of(PT_INTERP, 0);
  header->p_filesz = strlen(name) + 1;
  memcpy(image + header->p_offset, name, header->p_filesz);
}

static void write_other(const void* content, size_t bytes, mode_t mode) {
  unlink(other);
  int fd = open(other, O_WRONLY | O_CREAT | O_EXCL, 0600);
  CHECK(fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes && fchmod(fd, mode) == 0 && close(fd) == 0);
  name_interpreter(other);
}

/* Turns a damaged copy of the program into the interpreter that the program names. */
static void damaged_interpreter(uint16_t machine, uint16_t headers, uint16_t type) {
  static unsigned char copy[sizeof image];
  memcpy(copy, image, size);
  FILE_HEADER->e_machine = machine, FILE_HEADER->e_phnum = headers, FILE_HEADER->e_type = type;
  static unsigned char damaged[sizeof image];
  memcpy(damaged, image, size);
  memcpy(image, copy, size);
  write_other(damaged, size, 0700);
}

static void sound(void) {}
static void other_machine(void) { FILE_HEADER->e_machine = EM_AARCH64; }
static void no_machine(void) { FILE_HEADER->e_machine = EM_NONE; }
static void no_i386_headers(void) { FILE_HEADER->e_machine = EM_386; }
static void object_file(void) { FILE_HEADER->e_type = ET_REL; }
static void header_size(void) { FILE_HEADER->e_phentsize = 32; }
static void no_headers(void) { FILE_HEADER->e_phnum = 0; }
static void many_headers(void) { FILE_HEADER->e_phnum = 65536 / sizeof(Elf64_Phdr) + 1; }
static void headers_beyond(void) { FILE_HEADER->e_phoff = 1 << 30; }
static void cut_header(void) { size = 63; }
static void cut_headers(void) { size = 200; }
static void ident(void) { memset(image + SELFMAG, 99, EI_NIDENT - SELFMAG); }

/* A static program that exits. Its program headers are in no segment. */
static void headers_not_loaded(void) {
  static const unsigned char code[] = {0xb8, SYS_exit, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05};
  const size_t start = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  FILE_HEADER->e_type = ET_EXEC, FILE_HEADER->e_phnum = 1, FILE_HEADER->e_entry = 0x400000 + start;
  const Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, start, 0x400000 + start, 0, sizeof code, sizeof code, 4096};
  memcpy(image + sizeof(Elf64_Ehdr), &segment, sizeof segment);
  memcpy(image + start, code, sizeof code);
  size = start + sizeof code;
}

static void interpreter_missing(void) { name_interpreter("/no/such"); }
static void interpreter_folder(void) { name_interpreter("/tmp"); }
static void interpreter_not_executable(void) { write_other("#!/bin/true\n", 12, 0600); }
static void interpreter_short(void) { write_other("#!/bin/true\n", 12, 0700); }
static void interpreter_script(void) {
  char text[100] = "#!/bin/true\n";
  write_other(text, sizeof text, 0700);
}
static void interpreter_other_machine(void) { damaged_interpreter(EM_AARCH64, FILE_HEADER->e_phnum, ET_DYN); }
static void interpreter_headers(void) { damaged_interpreter(EM_X86_64, 0, ET_DYN); }
static void interpreter_object(void) { damaged_interpreter(EM_X86_64, FILE_HEADER->e_phnum, ET_REL); }
static void name_open_ended(void) { header_of(PT_INTERP, 0)->p_filesz--; }
static void name_short(void) { header_of(PT_INTERP, 0)->p_filesz = 1; }
static void name_long(void) { header_of(PT_INTERP, 0)->p_filesz = 4097; }
static void name_beyond(void) { header_of(PT_INTERP, 0)->p_offset = size; }
static void name_empty(void) { memset(image + header_of(PT_INTERP, 0)->p_offset, 0, 2); }

static void nothing_to_load(void) {
  for (int i = 0; i < FILE_HEADER->e_phnum; i++) {
    Elf64_Phdr* header = (Elf64_Phdr*)(void*)(image + FILE_HEADER->e_phoff) + i;
    if (header->p_type == PT_LOAD) header->p_type = PT_NULL;
  }
}
static void less_memory(void) { header_of(PT_LOAD, 1)->p_memsz = 1; }
static void unaligned(void) { header_of(PT_LOAD, 1)->p_offset += 8; }
static void kernel_address(void) { header_of(PT_LOAD, 1)->p_vaddr = 0xffff800000000000; }
static void much_memory(void) { header_of(PT_LOAD, 3)->p_memsz = (uint64_t)1 << 60; }
static void code_beyond(void) { header_of(PT_LOAD, 1)->p_offset += 1 << 28; }
static void zeros_beyond(void) { header_of(PT_LOAD, 3)->p_offset += 1 << 28; }

static const struct {
  const char* name;
  void (*damage)(void);
  int error, signal;
} cases[] = {
    {"sound", sound, 0, 0},
    {"other machine", other_machine, ENOEXEC, 0},
    {"no machine", no_machine, ENOEXEC, 0},
    {"i386 without its headers", no_i386_headers, ENOEXEC, 0},
    {"object file", object_file, ENOEXEC, 0},
    {"size of headers", header_size, ENOEXEC, 0},
    {"no headers", no_headers, ENOEXEC, 0},
    {"many headers", many_headers, ENOEXEC, 0},
    {"headers beyond the end", headers_beyond, ENOEXEC, 0},
    {"cut in the header", cut_header, ENOEXEC, 0},
    {"cut in the headers", cut_headers, ENOEXEC, 0},
    {"class and the like", ident, 0, 0},
    {"headers not loaded", headers_not_loaded, 0, 0},
    {"interpreter missing", interpreter_missing, ENOENT, 0},
    {"interpreter is a folder", interpreter_folder, EACCES, 0},
    {"interpreter not executable", interpreter_not_executable, EACCES, 0},
    {"interpreter too short", interpreter_short, EIO, 0},
    {"interpreter is a script", interpreter_script, ELIBBAD, 0},
    {"interpreter for another machine", interpreter_other_machine, ELIBBAD, 0},
    {"interpreter without headers", interpreter_headers, ELIBBAD, 0},
    {"interpreter is an object file", interpreter_object, 0, SIGSEGV},
    {"name without an end", name_open_ended, ENOEXEC, 0},
    {"name too short", name_short, ENOEXEC, 0},
    {"name too long", name_long, ENOEXEC, 0},
    {"name beyond the end", name_beyond, EIO, 0},
    {"name empty", name_empty, EACCES, 0},
    {"nothing to load", nothing_to_load, 0, SIGSEGV},
    {"less memory than file", less_memory, 0, SIGSEGV},
    {"unaligned", unaligned, 0, SIGSEGV},
    {"address of the kernel", kernel_address, 0, SIGSEGV},
    {"too much memory", much_memory, 0, SIGSEGV},
    {"code beyond the end", code_beyond, 0, SIGBUS},
    {"zeros beyond the end", zeros_beyond, 0, SIGSEGV},
};

static void read_program(void) {
  int fd = open("/bin/true", O_RDONLY);
  const ssize_t n = read(fd, image, sizeof image);
  CHECK(fd >= 0 && n > 4096 && n < (ssize_t)sizeof image && close(fd) == 0);
  size = (size_t)n;
}

/* Runs the program with SIGSEGV blocked and ignored: it still dies of SIGSEGV. */
static int run(const char* path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
  CHECK(fd >= 0 && write(fd, image, size) == (ssize_t)size && close(fd) == 0);
  const pid_t child = fork();
  if (child == 0) {
    sigset_t fault;
    sigemptyset(&fault), sigaddset(&fault, SIGSEGV);
    sigprocmask(SIG_BLOCK, &fault, NULL);
    signal(SIGSEGV, SIG_IGN);
    execl(path, "true", NULL);
    _exit(errno);
  }
  return status_of(child);
}

int main(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/reweave-image-%d", getpid());
  snprintf(other, sizeof other, "/tmp/reweave-in-%d", getpid());
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    read_program();
    cases[i].damage();
    const int status = run(path);
    printf("%s: %s, %s\n", cases[i].name, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "lived",
           WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "died");
    CHECK(fflush(stdout) == 0);
    CHECK(cases[i].signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal
                               : WIFEXITED(status) && WEXITSTATUS(status) == cases[i].error);
  }
  CHECK(unlink(path) == 0 && unlink(other) == 0);
  return 0;
}

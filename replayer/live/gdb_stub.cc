#include "replayer/live/gdb_stub.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "formats/base/error.h"
#include "replayer/live/stub_parts.h"

namespace reweave {

namespace {

constexpr const char* kFeatures =
    "PacketSize=20000;QStartNoAckMode+;multiprocess+;swbreak+;vContSupported+;qXfer:features:read+;qXfer:auxv:read+;"
    "qXfer:threads:read+;qXfer:siginfo:read+;QPassSignals+;ReverseContinue+;ReverseStep+";

}  // namespace

std::string GdbStub::supported(std::string_view) { return kFeatures; }

GdbStub::GdbStub(const ReplaySource& source, const std::string& where, bool quiet)
    : symbols_(core_symbols(find_runtime().core)), timeline_(source, symbols_) {
  timeline_.use_checkpoints();
  open(where, quiet);
}

int GdbStub::run() {
  while (!ended_) {
    const auto packet = packets_.next();
    if (!packet) break;
    std::string answer;
    try {
      answer = answer_to(*packet);
    } catch (const Error& error) {
      std::fprintf(stderr, "reweave: %s\n", error.what());
      answer = packet->starts_with('b') ? stay() : "E01";
    }
    if (!ended_) packets_.send(answer);
  }
  return 0;
}

// The answer to a walk back that failed. It must be a stop: gdb waits for one, and would repeat its own steps
// otherwise.
std::string GdbStub::stay() {
  if (process().ended()) open("end", true);
  return describe(last_, "replaylog:begin;");
}

std::string GdbStub::answer_to(std::string_view packet) {
  for (const Handler& handler : handlers())
    if (packet.substr(0, handler.prefix.size()) == handler.prefix)
      return (this->*handler.answer)(packet.substr(handler.prefix.size()));
  return "";
}

std::string GdbStub::no_acknowledgements(std::string_view) {
  packets_.send("OK");
  packets_.acknowledge(false);
  return answer_to_next();
}

std::string GdbStub::answer_to_next() {
  const auto packet = packets_.next();
  if (!packet) ended_ = true;
  return packet ? answer_to(*packet) : "";
}

std::string GdbStub::kill(std::string_view) {
  ended_ = true;
  return "OK";
}

std::string GdbStub::vkill(std::string_view) {
  packets_.send("OK");
  ended_ = true;
  return "";
}

std::span<const GdbStub::Handler> GdbStub::handlers() {
  static constexpr Handler kHandlers[] = {
      {"qSupported", &GdbStub::supported},
      {"QStartNoAckMode", &GdbStub::no_acknowledgements},
      {"QPassSignals:", &GdbStub::pass_signals},
      {"qXfer:features:read:target.xml:", &GdbStub::features},
      {"qXfer:auxv:read::", &GdbStub::auxv},
      {"qXfer:siginfo:read::", &GdbStub::signal_info},
      {"qXfer:threads:read::", &GdbStub::threads},
      {"qSymbol:", &GdbStub::symbols},
      {"qGetTLSAddr:", &GdbStub::storage},
      {"qAttached", &GdbStub::attached},
      {"qRcmd,", &GdbStub::command},
      {"qC", &GdbStub::current},
      {"?", &GdbStub::why},
      {"vCont?", &GdbStub::actions},
      {"vCont", &GdbStub::continue_threads},
      {"vKill", &GdbStub::vkill},
      {"H", &GdbStub::select},
      {"T", &GdbStub::alive},
      {"g", &GdbStub::registers},
      {"G", &GdbStub::set_registers},
      {"p", &GdbStub::register_},
      {"P", &GdbStub::set_register},
      {"m", &GdbStub::read},
      {"M", &GdbStub::write},
      {"X", &GdbStub::write_raw},
      {"Z", &GdbStub::insert},
      {"z", &GdbStub::remove},
      {"bc", &GdbStub::go_back},
      {"bs", &GdbStub::step_back},
      {"k", &GdbStub::kill},
      {"D", &GdbStub::nothing},
  };
  return kHandlers;
}

int serve_gdb(const ReplaySource& source, const std::string& where, bool quiet, int listener, int reply_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed gdb does not end a motion
  signal(SIGINT, SIG_IGN);           // the terminal's interrupt is for gdb
  signal(SIGPIPE, SIG_IGN);
  struct sigaction wakes = {};
  wakes.sa_handler = [](int) {};
  sigaction(SIGALRM, &wakes, nullptr);
  GdbStub stub(source, where, quiet);
  const std::string line = stub.announcement();
  SYSCALL_CHECK(write(reply_fd, line.data(), line.size()), "answering the debugger");
  close(reply_fd);
  const Fd connection(SYSCALL_CHECK(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "waiting for gdb"));
  close(listener);
  stub.connect(connection.get());
  return stub.run();
}

}  // namespace reweave

// The output of test frameworks about failed tests, exactly as they print it.
#define BOOST_TEST_MODULE last_words
#include <boost/test/unit_test.hpp>

#include "explorer/words/last_words.h"

namespace reweave {
namespace {

BOOST_AUTO_TEST_CASE(googletest) {
  BOOST_TEST(last_words("[ RUN      ] Cache.Counter\n"
                        "g.cc:6: Failure\n"
                        "Expected equality of these values:\n"
                        "  n\n"
                        "    Which is: 5\n"
                        "  6\n"
                        "\n"
                        "[  FAILED  ] Cache.Counter (0 ms)\n"
                        "[==========] 3 tests from 1 test suite ran. (1 ms total)\n"
                        "[  FAILED  ] 1 test, listed below:\n"
                        "[  FAILED  ] Cache.Counter\n"
                        "\n"
                        " 1 FAILED TEST\n") ==
             "Cache.Counter: g.cc:6: Failure Expected equality of these values: n Which is: 5 6");
}

BOOST_AUTO_TEST_CASE(our_own_words_do_not_count) {
  BOOST_TEST(last_words("starting\n"
                        "reweave: deadlock: threads wait for each other\n"
                        "  thread 1 waits for a mutex at 0x5555, pc 0x5555, held by thread 2\n") == "starting");
}

BOOST_AUTO_TEST_CASE(boost_test_with_colours) {
  BOOST_TEST(last_words("Running 2 test cases...\n"
                        "b.cc(5): \x1b[1;31;49merror: in \"counter\": check n==6 has failed [5 != 6]\x1b[0;39;49m\n"
                        "\n"
                        "\x1b[1;31;49m*** 1 failure is detected in the test module \"x\"\n"
                        "\x1b[0;39;49m") == "b.cc(5): error: in \"counter\": check n==6 has failed [5 != 6]");
}

BOOST_AUTO_TEST_CASE(catch2) {
  BOOST_TEST(last_words("-------\ncounter\n-------\nc.cc:4\n.......\n\n"
                        "c.cc:9: FAILED:\n  CHECK( n == 6 )\nwith expansion:\n  5 == 6\n\n"
                        "=====\ntest cases: 1 | 1 failed\n") ==
             "c.cc:9: FAILED: CHECK( n == 6 ) with expansion: 5 == 6");
}

BOOST_AUTO_TEST_CASE(doctest) {
  BOOST_TEST(last_words("[doctest] doctest version is \"2.4.9\"\n=====\nd.cc:4:\nTEST CASE:  counter\n\n"
                        "d.cc:9: ERROR: CHECK( n == 6 ) is NOT correct!\n  values: CHECK( 5 == 6 )\n\n"
                        "[doctest] Status: FAILURE!\n") ==
             "d.cc:9: ERROR: CHECK( n == 6 ) is NOT correct! values: CHECK( 5 == 6 )");
}

BOOST_AUTO_TEST_CASE(assertions_and_exceptions) {
  BOOST_TEST(last_words("work\na.out: a.c:3: main: Assertion `n == 2' failed.\n") ==
             "a.out: a.c:3: main: Assertion `n == 2' failed.");
  BOOST_TEST(last_words("terminate called after throwing an instance of 'std::runtime_error'\n  what():  empty\n") ==
             "terminate called after throwing an instance of 'std::runtime_error' what():  empty");
  BOOST_TEST(last_words("thread 'main' panicked at src/main.rs:5:10:\nnone left\nnote: run with\n") ==
             "thread 'main' panicked at src/main.rs:5:10: none left");
}

BOOST_AUTO_TEST_CASE(sanitizers) {
  BOOST_TEST(last_words("=====\n==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602\n  #0 0x1 in f\n") ==
             "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602");
}

BOOST_AUTO_TEST_CASE(anything_else_is_the_last_line) {
  BOOST_TEST(last_words("one\ntwo\n\n") == "two");
  BOOST_TEST(last_words("no line end") == "no line end");
  BOOST_TEST(last_words("") == "");
  BOOST_TEST(last_words("\n\x1b[0m\n") == "");
  BOOST_TEST(last_words("\x1b[") == "");
}

}  // namespace
}  // namespace reweave

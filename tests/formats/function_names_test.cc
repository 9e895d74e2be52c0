#define BOOST_TEST_MODULE function_names
#include "formats/elf/function_names.h"

#include <boost/test/unit_test.hpp>

using namespace reweave;

BOOST_AUTO_TEST_CASE(what_a_reader_does_not_need_is_left_out) {
  const std::pair<const char*, const char*> kNames[] = {
      {"deposit", "deposit"},
      {"Queue::push(int)", "Queue::push"},
      {"Queue::size() const", "Queue::size"},
      {"Channel::send(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
       "Channel::send"},
      {"Channel::last[abi:cxx11]()", "Channel::last"},
      {"void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other, main::{lambda()#1}&&)",
       "std::__invoke_impl"},
      {"std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"},
      {"std::function<void (int)>::operator()(int) const", "std::function::operator()"},
      {"(anonymous namespace)::helper(char*) [clone .part.0]", "helper"},
      {"main::{lambda(int)#2}::operator()(int) const", "main::{lambda}"},
      {"Pool::Pool(int)::{lambda()#1}::operator()() const", "Pool::Pool::{lambda}"},
      {"main()::<lambda(int)>", "main::{lambda}"},
      {"main::$_12::operator()() const", "main::{lambda}"},
      {"run()::'lambda'(int)::operator()(int) const", "run::{lambda}"},
      {"operator new(unsigned long)", "operator new"},
      {"operator delete[](void*, unsigned long)", "operator delete[]"},
      {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<"},
      {"bool operator< <int>(A<int> const&, A<int> const&)", "operator<"},
      {"A::operator->() const", "A::operator->"},
      {"A::operator<=(A const&) const", "A::operator<="},
      {"A::operator bool() const", "A::operator bool"},
      {"A::operator==(A const&) const &", "A::operator=="},
      {"operators::f()", "operators::f"},
      {"virtual thunk to A::f()", "A::f"},
      {"A<(B)3>::f(void (*)(int))", "A::f"},
  };
  for (const auto& [name, expected] : kNames) BOOST_TEST(short_name(name) == expected);
}

BOOST_AUTO_TEST_CASE(what_is_no_name_of_cxx_stays) {
  for (const char* name : {"", "libc.so.6+0x1234", "0x401136", "<", "(", "(x", "__libc_start_call_main", "foo.part.0"})
    BOOST_TEST(short_name(name) == name);
  for (const char* name : {"f(", "f<", "f<a(b>c", "'lambda", "{lambda(", "f[abi:", "operator", "$_", "f(int) ", "a b "})
    short_name(name);  // must terminate
}

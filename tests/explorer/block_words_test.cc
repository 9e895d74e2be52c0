// The type of what functions of the standard library allocate, by their names.
#define BOOST_TEST_MODULE block_words
#include "explorer/words/block_words.h"

#include <boost/test/unit_test.hpp>

namespace reweave {

BOOST_AUTO_TEST_CASE(makers_and_allocators_name_the_type) {
  BOOST_TEST(type_allocated_by("std::shared_ptr<Route> std::make_shared<Route, int&>(int&)") == "Route");
  BOOST_TEST(type_allocated_by("std::make_unique<net::Table<int, 3> >()") == "net::Table");
  BOOST_TEST(type_allocated_by("std::__new_allocator<int>::allocate(unsigned long, void const*)") == "array of int");
  BOOST_TEST(type_allocated_by("std::__new_allocator<Job*>::allocate(unsigned long, void const*)") == "array of Job*");
  BOOST_TEST(type_allocated_by("std::__new_allocator<std::_Sp_counted_ptr_inplace<Route, std::allocator<void>, "
                               "(__gnu_cxx::_Lock_policy)2> >::allocate(unsigned long, void const*)") == "Route");
  BOOST_TEST(type_allocated_by("std::__new_allocator<std::_List_node<Job> >::allocate(unsigned long)") == "Job");
}

BOOST_AUTO_TEST_CASE(internals_of_the_library_are_not_named) {
  for (const char* name :
       {"operator new(unsigned long)", "std::make_unique<int []>(unsigned long)", "load(char const*)",
        "std::__new_allocator<std::__detail::_Hash_node_base*>::allocate(unsigned long)",
        "std::__new_allocator<std::_Rb_tree_node<std::pair<int const, Route> > >::allocate(unsigned long)",
        "std::make_unique<Broken"})
    BOOST_TEST(type_allocated_by(name) == "", name);
}

}  // namespace reweave

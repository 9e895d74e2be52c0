# find_package(reweave) gives the target reweave::check: <reweave/check.h>, header only.
get_filename_component(reweave_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET reweave::check)
  add_library(reweave::check INTERFACE IMPORTED)
  set_target_properties(reweave::check PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${reweave_prefix}/include")
endif()

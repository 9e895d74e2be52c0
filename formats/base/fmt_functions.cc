// Compiles the functions of {fmt} once. Debian has only a shared library and the headers. In header-only mode each
// source file would take some seconds longer to compile; the shared library would pull in the shared libstdc++.
#include <fmt/format-inl.h>

template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);

// The functions of {fmt}, of which Debian has a shared library and the headers only, compiled once. In its header-only
// mode each source of ours would take some seconds longer to compile; its shared library would bring the shared
// libstdc++ along.
#include <fmt/format-inl.h>

template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);

#!/bin/sh
# reweave-cc, reweave-c++: clang-14, or the clang 14 that $REWEAVE_CC or $REWEAVE_CXX names, with Reweave's plugin. Use
# it wherever a compiler can be named: CC=reweave-cc. All arguments are passed on.
me=${0##*/}
fail() {
  echo "$me: $1" >&2
  exit 1
}

case $me in
*++*) variable=REWEAVE_CXX given=$REWEAVE_CXX compiler=${REWEAVE_CXX:-clang++-14} ;;
*) variable=REWEAVE_CC given=$REWEAVE_CC compiler=${REWEAVE_CC:-clang-14} ;;
esac

# Find the plugin from the place of this file, with links resolved: this file is in bin beside lib/reweave, or in the
# folder of a build, together with the plugin.
self=$(readlink -f "$0") || fail "cannot find its own place: $0"
folder=${self%/*}
plugin=$folder/../lib/reweave/reweave-sleds-14.so
[ -e "$folder/reweave-sleds-14.so" ] && plugin=$folder/reweave-sleds-14.so
[ -e "$plugin" ] ||
  fail "$plugin is missing: install Reweave again, or build it where LLVM 14's headers are (llvm-14-dev)"

# $compiler may be several words, such as "ccache clang-14".
command -v "${compiler%% *}" >/dev/null || fail "there is no $compiler; install clang 14, or name it in \$$variable"
if [ -n "$given" ]; then
  # shellcheck disable=SC2086
  version=$($compiler -dM -E -x c /dev/null 2>/dev/null | sed -n 's/^#define __clang_major__ //p')
  [ -n "$version" ] || fail "\$$variable names $compiler, which is not clang; gcc is not supported yet"
  [ "$version" = 14 ] || fail "\$$variable names $compiler, which is clang $version; only clang 14 is supported yet"
fi

for argument; do
  case $argument in
  -flto | -flto=*) fail "$argument is not supported yet: the accesses would lose their places" ;;
  -fsanitize=*thread*) fail "-fsanitize=thread has calls where this puts sleds; use $compiler for that" ;;
  esac
done

# Make ccache's results depend on the plugin.
export CCACHE_EXTRAFILES="${CCACHE_EXTRAFILES:+$CCACHE_EXTRAFILES:}$plugin"
# shellcheck disable=SC2086
exec $compiler --start-no-unused-arguments "-fpass-plugin=$plugin" --end-no-unused-arguments "$@"

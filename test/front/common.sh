# What the tests of the front share. A test sources this, makes its programs with the functions
# below in a directory of its own, and calls fail or ends well.

set -u

build=${COLLOPT_BUILD:-$PWD}
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
: "${CC:=cc}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset LD_PRELOAD COLLOPT COLLOPT_BUILD COLLOPT_SOURCE   # collopt would call the latter two misspelt

here=$source/test/front
front=$build/.libs/libcollopt.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

fail()
{
    echo "FAIL: $*"
    exit 1
}

# hosts: those that collopt was built for
. "$source/test/launch.sh"
hosts=$test_hosts

run()           # HOST RANKS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...; everything it says goes to
                # ./said
{
    host=$1 ranks=$2
    shift 2
    timeout 100 $(launcher_of "$host") -n "$ranks" env $(library_of "$host") "$@" >said 2>&1 ||
        { cat said; fail "$host $ranks $*: status $?"; }
}

expect()        # COUNT LINE: this line was said so many times
{
    [ "$(grep -cxF -- "$2" said)" = "$1" ] || { cat said; fail "\"$2\" not said $1 times"; }
}

expect_like()   # COUNT PATTERN
{
    [ "$(grep -c -- "$2" said)" = "$1" ] || { cat said; fail "\"$2\" not said $1 times"; }
}

shared()        # FILE.so SOURCE [FLAG]...
{
    library=$1 from=$2
    shift 2
    $CC -g -O2 -fPIC -shared -I"$source/src" -o "$library" "$here/$from" "$@" ||
        fail "compiling $from"
}

program()       # HOST SOURCE FILE [FLAG]...
{
    host=$1 from=$2 file=$3
    shift 3
    $(wrapper "$host") -g -O2 -I"$source/include" -o "$file" "$here/$from" "$@" ||
        fail "compiling $from for $host"
}

# A front with stand-in backends beside it, laid out as installed: DIRECTORY/libcollopt.so and
# DIRECTORY/collopt/
installation()  # DIRECTORY
{
    mkdir -p "$1/collopt"
    cp "$front" "$1/libcollopt.so"
    ln -sf libcollopt.so "$1/libcollopt.so.0"
    for each in $hosts; do      # its caller may be at one host
        shared "$1/collopt/libcollopt-$(abi_of "$each").so" backend.c
    done
}

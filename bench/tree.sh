# For the scripts of this folder: where collopt is built.

# Sets build: DIRECTORY, or the directory we are in, or build/ in the source tree, or that itself.
# False: it is not built there.
find_tree()             # SOURCE-TREE [DIRECTORY]
{
    for build in ${2:+"$2"} ${2:-. "$1/build" "$1"}; do
        [ ! -f "$build/config.status" ] || break
    done
    [ -f "$build/.libs/libcollopt.so" ] && build=$(cd "$build" && pwd)
}

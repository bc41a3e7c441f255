# What tests without MPI share: a folder of their own, $work, and a failure that is noted.  A test
# sources this first, and ends by `exit $failed`.

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

# Shows what was said, and goes on.
fail()
{
    echo "FAIL: $*"
    [ ! -s "$work/said" ] || sed 's/^/    /' "$work/said"
    failed=1
}

#!/bin/sh
# Every message of the source is in the troubleshooting page, and the page has no other. Then the
# same with a message too few on either side, which must be found.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
check=$COLLOPT_SOURCE/test/docs/messages.py
python3 "$check" "$COLLOPT_SOURCE" || failed=1

mkdir -p "$work/doc/manual"
ln -s "$COLLOPT_SOURCE/src" "$COLLOPT_SOURCE/tools" "$COLLOPT_SOURCE/bench" "$work"
page=doc/manual/troubleshooting.md
finds()                 # WHAT PATTERN
{
    python3 "$check" "$work" >"$work/said" && { echo "FAIL: $1 is not found"; failed=1; }
    grep -q "$2" "$work/said" || { echo "FAIL: $1: $(cat "$work/said")"; failed=1; }
}
grep -v 'no shared memory on this node' "$COLLOPT_SOURCE/$page" >"$work/$page"
finds 'a message without an entry' \
    'not in doc/manual/troubleshooting.md: no shared memory on this node'
sed 's/^collopt: COMMAND was not started/&\ncollopt: COMMAND was started too late/' \
    "$COLLOPT_SOURCE/$page" >"$work/$page"
finds 'an entry without a message' 'no message of the source: collopt: COMMAND was started too late'
sed 's/\( is not used: site.rules:4: allreduce \)has no algorithm/\1wants another algorithm than/' \
    "$COLLOPT_SOURCE/$page" >"$work/$page"
finds 'words of no message inside another' \
    'no message of the source: collopt: COLLOPT_RULES is not used'
sed '0,/\*\*Remedy\.\*\*/s///' "$COLLOPT_SOURCE/$page" >"$work/$page"
finds 'a message without a remedy' 'a message without'
exit $failed

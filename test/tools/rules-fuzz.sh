#!/bin/sh
# Files of rules that were spoilt at random, under AddressSanitizer and UndefinedBehaviorSanitizer
# where the compiler has them: each is either taken or refused with a message.

cc=${CC:-cc}
source=${COLLOPT_SOURCE:-.}
build=$(mktemp -d) || exit 99
trap 'rm -rf "$build"' EXIT
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"
unset COLLOPT_SOURCE COLLOPT_BUILD

echo 'int main(void) { return 0; }' >"$build/try.c"
# shellcheck disable=SC2086     # several options
if ! { $cc $sanitize "$build/try.c" -o "$build/try" 2>/dev/null && "$build/try"; }; then
    echo "$cc has no sanitizers"
    sanitize=
fi
echo '#define _GNU_SOURCE 1' >"$build/config.h"
# shellcheck disable=SC2086
$cc -std=gnu11 -g -O1 $sanitize -I"$build" -I"$source/src" \
    -I"$source/test/unit" -I"$source/tools" "$source/test/tools/rules-fuzz.c" \
    "$source/test/unit/fake_registry.c" "$source/src/catalogue/choice.c" \
    "$source/src/base/contents.c" "$source/src/base/launcher.c" "$source/src/base/text.c" \
    "$source/src/schedule/parameters.c" "$source/src/catalogue/expression.c" \
    "$source/src/topology/host_file.c" "$source/src/base/lines.c" "$source/src/base/list.c" \
    "$source/src/base/log.c" "$source/src/base/signals.c" \
    "$source/src/settings/search_path.c" "$source/src/model/fragments.c" \
    "$source/src/model/host_mpi.c" "$source/src/model/host_times.c" \
    "$source/src/model/machine.c" "$source/src/settings/rules.c" \
    "$source/tools/shared/rules_check.c" "$source/src/settings/settings.c" \
    "$source/src/topology/topology.c" -o "$build/fuzz" -lpthread || exit 1
"$build/fuzz" "${1:-20000}"

# packaging/Containerfile: every instruction is one that there is, the shell reads every RUN, what
# is copied is there, and apt knows the packages. test/packaging/image builds it, by hand.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

file=$top/packaging/Containerfile
sed -e '/^#/d' -e '/^$/d' -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}' "$file" >"$work/lines"
stages=0 copied=0
while read -r word rest <&3; do
    case $word in
    FROM) stages=$((stages + 1)) ;;
    RUN) sh -n -c "$rest" >"$work/said" 2>&1 || fail "RUN $rest" ;;
    COPY)
        copied=$((copied + 1))
        case $rest in
        --from=*) grep -q "^FROM .* AS $(echo "$rest" | sed 's/--from=\([^ ]*\) .*/\1/')\$" \
            "$work/lines" || fail "COPY $rest: no such stage" ;;
        *) [ -e "$top/${rest% *}" ] || fail "COPY $rest: no such file" ;;
        esac
        ;;
    ENV | WORKDIR | CMD) ;;
    *) fail "$word is no instruction that this file has" ;;
    esac
done 3<"$work/lines"
[ $stages = 2 ] && [ $copied = 2 ] || fail "$stages stages, $copied copies"

# Of Debian 12, where this machine has its lists.
. /etc/os-release
if [ "$ID-${VERSION_ID-}" = debian-12 ] && apt-cache show make >/dev/null 2>&1; then
    packages=$(sed -n 's/^RUN apt-get.* install \([^&]*\).*/\1/p' "$work/lines" |
        tr ' ' '\n' | grep '^[a-z]')
    [ "$(echo "$packages" | wc -l)" -gt 10 ] || fail 'no packages'
    for package in $packages; do
        apt-cache show "$package" >"$work/said" 2>&1 || fail "$package is no package"
    done
fi
finish

#!/bin/sh
# Completion in bash, zsh and fish: each offers every option in each tool's --help, the values of
# some, and the command's own words.  Shells that are not installed are skipped, and the test with
# them.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
. "${COLLOPT_SOURCE:-.}/test/launch.sh"
build=${COLLOPT_BUILD:-$PWD} source=${COLLOPT_SOURCE:-.}
missing=
unset COLLOPT_BUILD COLLOPT_SOURCE

# All tools in one folder, as installed.
mkdir -p "$work/bin" "$work/home"
tools='collopt collopt-info collopt-plan collopt-ps collopt-report collopt-tune'
for tool in $tools; do
    ln -s "$build/tools/$tool" "$work/bin/$tool"
done
for host in $native_hosts; do
    ln -s "$build/bench/$host/collopt-bench" "$work/bin/collopt-bench-$host"
    tools="$tools collopt-bench-$host"
done
PATH=$work/bin:$PATH HOME=$work/home
XDG_CONFIG_HOME=$work/home XDG_DATA_HOME=$work/home XDG_CACHE_HOME=$work/home
XDG_RUNTIME_DIR=$work/home
export HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR

# Each option that a help names where options stand, read otherwise than collopt does.
options()               # TOOL
{
    "$1" --help | grep -oE '(^ *|^  -o, +|  |, )--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u
}

offers()                # SHELL TOOL WHAT WORD...: $work/offered has these
{
    shell=$1 tool=$2 what=$3
    shift 3
    for word; do
        grep -qxF -e "$word" "$work/offered" ||
            fail "$shell, $tool $what: \"$word\" is not offered: $(head -c 300 "$work/offered")"
    done
}

# What a shell offers for these words, the last of which is begun: in $work/offered, one in each
# line.
bash_offers()           # WORD...
{
    bash --norc -c '
        for file in /usr/share/bash-completion/bash_completion; do [ ! -f $file ] || . $file; done
        . "$0/tools/completion/collopt.bash"
        # readline has "=" for a word
        while [ $# -gt 0 ]; do
            line=${line+$line }$1
            rest=$1
            while [[ $rest == *=* ]]; do
                [ -z "${rest%%=*}" ] || COMP_WORDS+=("${rest%%=*}")
                COMP_WORDS+=("=")
                rest=${rest#*=}
            done
            [ -z "$rest" ] && [[ $1 == *= ]] || COMP_WORDS+=("$rest")
            shift
        done
        COMP_LINE=$line COMP_POINT=${#line} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        word=${COMP_WORDS[COMP_CWORD]}
        [ "$word" != = ] || word=
        _collopt "${COMP_WORDS[0]}" "$word" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' "$source" "$@" >"$work/offered" 2>"$work/said"
    [ ! -s "$work/said" ] || fail "bash, $*: $(cat "$work/said")"
}

# Of an interactive shell on a terminal of its own, where completion tells compadd what it offers.
mkdir -p "$work/zsh"
cp "$source/tools/completion/_collopt" "$work/zsh/"
cat >"$work/zsh/.zshrc" <<'END'
PS1='' fpath=($ZDOTDIR $fpath)
autoload -U compinit && compinit -u -d $ZDOTDIR/dump
compadd()
{
    # With -O, -A or -D it fills arrays and offers nothing.
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        local -a hits
        builtin compadd -A hits "$@"
        print -rl -- $hits >>$ZDOTDIR/offered
    fi
    builtin compadd "$@"
}
bindkey '^I' complete-word
done-offering() { : >$ZDOTDIR/done }
zle -N done-offering
bindkey '^X' done-offering
zle-line-init() { : >$ZDOTDIR/ready }
zle -N zle-line-init
zstyle ':completion:*' insert-tab false
END
zsh_offers()            # WORD...
{
    rm -f "$work/zsh/offered" "$work/zsh/ready" "$work/zsh/done"
    ZDOTDIR=$work/zsh zsh -f -c '
        zmodload zsh/zpty zsh/zselect
        zpty shell zsh -i
        await() {
            for ((i = 0; i < 1000; i++)); do
                [[ ! -e $ZDOTDIR/$1 ]] || return
                zpty -rt shell text
                zselect -t 2
            done
        }
        await ready
        zpty -wn shell "$*$(printf "\\t\\030")"
        await done
        zpty -d shell' zsh "$@" >"$work/said" 2>&1
    cp "$work/zsh/offered" "$work/offered" || fail "zsh, $*: $(cat "$work/said")"
}

fish_offers()           # WORD...
{
    fish --no-config -c 'set -p fish_complete_path $argv[1]; complete -C "$argv[2]"' "$work/fish" \
        "$*" 2>"$work/said" |
        cut -f1 >"$work/offered"
    [ ! -s "$work/said" ] || fail "fish, $*: $(cat "$work/said")"
}

all_offer()             # SHELL
{
    shell=$1
    for tool in $tools; do
        [ "$(options "$tool" | wc -l)" -ge 4 ] || fail "$tool --help: no options"
        "${shell}_offers" "$tool" --
        # shellcheck disable=SC2046     # options have no spaces
        offers "$shell" "$tool" -- $(options "$tool")
    done
    "${shell}_offers" collopt --wait ''
    offers "$shell" collopt '--wait' auto spin yield
    "${shell}_offers" collopt-info --explain all
    offers "$shell" collopt-info '--explain all' allreduce
    "${shell}_offers" collopt compare --
    offers "$shell" collopt 'compare --' --pairs --own-time --progress --json
    "${shell}_offers" collopt-plan allreduce --format ''
    offers "$shell" collopt-plan '--format' text svg html json
    "${shell}_offers" collopt-plan allreduce --algorithm recursive_d
    offers "$shell" collopt-plan '--algorithm recursive_d' recursive_doubling
    "${shell}_offers" collopt-info --variable COLLOPT_WA
    offers "$shell" collopt-info '--variable COLLOPT_WA' COLLOPT_WAIT
    "${shell}_offers" collopt-plan sc
    offers "$shell" collopt-plan sc scan
}

if command -v bash >/dev/null; then
    all_offer bash
    bash_offers collopt --force allreduce=ri
    offers bash collopt '--force allreduce=ri' ring
    bash_offers collopt --force allr
    offers bash collopt '--force allr' allreduce=ring
    bash_offers collopt --wait=
    offers bash collopt --wait= spin
else
    missing="$missing bash"
fi
if command -v zsh >/dev/null; then
    all_offer zsh
    zsh_offers collopt --force allreduce=ri
    offers zsh collopt '--force allreduce=ri' allreduce=ring
else
    missing="$missing zsh"
fi
if command -v fish >/dev/null; then
    mkdir -p "$work/fish"
    for tool in $tools; do
        cp "$source/tools/completion/collopt.fish" "$work/fish/$tool.fish"
    done
    all_offer fish
    fish_offers collopt --force allreduce=ri
    offers fish collopt '--force allreduce=ri' allreduce=ring
else
    missing="$missing fish"
fi
[ $failed = 0 ] || exit 1
[ -z "$missing" ] || { echo "SKIP: not installed:$missing"; exit 77; }

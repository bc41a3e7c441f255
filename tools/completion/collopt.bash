# Completion for bash, of collopt and its tools.  What they offer is read from their --help, by
# `collopt --complete`.

# shellcheck disable=SC2207     # no candidate has spaces in it
_collopt()
{
    local collopt=collopt tool=${1##*/} before=$3 word=${COMP_LINE:0:COMP_POINT} kept='' i IFS=$'\n'

    [[ $1 != */* ]] || collopt=${1%/*}/collopt
    word=${word##*[[:space:]]}
    [[ $word != -* ]] || before=''
    if [[ $word == --*=* ]]; then
        before=${word%%=*} kept=$before=
        word=${word#*=}
    elif [[ $before == = ]]; then               # readline takes "allreduce=ring" for three words
        before=${COMP_WORDS[COMP_CWORD - 3]}
    elif [[ $word == *= ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # The command behind the options of collopt and collopt-tune, and its own options; compare,
    # profile, doctor, demo and ps have both again.
    if [[ $tool == collopt || $tool == collopt-tune ]]; then
        for ((i = 1; i < COMP_CWORD; i++)); do
            [[ ${COMP_WORDS[i]} != -- ]] || { i=$((i + 1)); break; }
            [[ $tool != collopt || ${COMP_WORDS[i]} != @(compare|profile|doctor|demo|ps) ]] ||
                { tool="collopt ${COMP_WORDS[i]}"; continue; }
            [[ ${COMP_WORDS[i]} == -* ]] || break
            [[ -z $("$collopt" --complete "$tool" | grep -e "^${COMP_WORDS[i]}"$'\t[^\t]') ]] ||
                i=$((i + 1))
            while [[ ${COMP_WORDS[i + 1]-} == = ]]; do i=$((i + 2)); done
        done
        if ((i < COMP_CWORD)); then
            if declare -F _command_offset >/dev/null; then
                IFS=$' \t\n'
                _command_offset "$i"
            else
                COMPREPLY=($(compgen -f -- "$word"))
            fi
            return
        fi
    fi
    local values=''
    [[ $before != -* ]] || values=$("$collopt" --complete "$tool" "$before")
    case $values in
    FILE) COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null ;;
    ?*) COMPREPLY=($(compgen -W "$values" -- "$word")) ;;
    *)
        if [[ $word == -* ]]; then
            COMPREPLY=($(compgen -W "$("$collopt" --complete "$tool" | cut -f1)" -- "$word"))
        elif [[ $tool == collopt-report ]]; then
            COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null
        elif [[ $tool == collopt-plan ]]; then
            COMPREPLY=($(compgen -W "$("$collopt" --complete collopt-info --explain)" -- "$word"))
        elif [[ $tool == collopt* ]]; then
            COMPREPLY=($(compgen -c -- "$word"))
            [[ $tool != collopt ]] ||
                COMPREPLY+=($(compgen -W $'compare\nprofile\ndoctor\ndemo\nps' -- "$word"))
        fi
        ;;
    esac
    # readline replaces what is behind the last "=" only
    [[ $COMP_WORDBREAKS != *=* ]] ||
        { [[ $word != *=* ]] || COMPREPLY=("${COMPREPLY[@]#"${word%=*}="}"); return; }
    COMPREPLY=("${COMPREPLY[@]/#/$kept}")
}
complete -F _collopt collopt collopt-info collopt-plan collopt-ps collopt-report collopt-tune \
    collopt-bench-openmpi collopt-bench-mpich

# Completion for fish, of collopt or of the tool whose name this file has.  What it offers is read
# from the tool's --help, by `collopt --complete`.

set -l tool (string replace -r '\.fish$' '' (basename (status filename)))

test $tool = collopt-report; or complete -c $tool -f
for line in (collopt --complete $tool)
    set -l field (string split \t -- $line)
    set -l name -l (string replace -r '^--' '' -- $field[1])
    string match -qr '^-[a-z]$' -- $field[1]; and set name -s (string replace -- - '' $field[1])
    if test -z "$field[2]"
        complete -c $tool $name -d "$field[3]"
    else if test "$field[2]" = FILE
        complete -c $tool $name -r -F -d "$field[3]"
    else
        complete -c $tool $name -x -a "(collopt --complete $tool $field[1])" -d "$field[3]"
    end
end
switch $tool
    case collopt
        complete -c $tool -n __fish_is_first_arg -x -a 'compare profile doctor demo ps'
        for sub in compare profile doctor demo ps
            for line in (collopt --complete "collopt $sub")
                set -l field (string split \t -- $line)
                string match -q -- '--*' $field[1]
                and complete -c $tool -n "__fish_seen_subcommand_from $sub" \
                    -l (string replace -r '^--' '' -- $field[1]) -d "$field[3]"
            end
        end
        complete -c $tool -x -a '(__fish_complete_subcommand)'
    case collopt-tune
        complete -c $tool -x -a '(__fish_complete_subcommand)'
    case collopt-plan
        complete -c $tool -n __fish_is_first_arg -x -a '(collopt --complete collopt-info --explain)'
end

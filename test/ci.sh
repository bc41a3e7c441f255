# The workflow for hosted tests is YAML, has a job for each MPI library, runs commands that there
# are, and takes nothing from others but the checkout and an artifact's upload.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

workflow=$top/.github/workflows/ci.yml
[ -f "$workflow" ] || skip "no workflow in a tarball"
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import yaml' 2>/dev/null && break
done
[ "$python" != none ] || skip "no python3 with yaml"
PYTHONDONTWRITEBYTECODE=1 "$python" - "$workflow" >"$work/commands" 2>"$work/said" <<'END' ||
import sys, yaml

text = open(sys.argv[1], encoding="utf-8").read()
assert "secrets" not in text
for name, job in yaml.safe_load(text)["jobs"].items():
    matrix = job["strategy"]["matrix"]
    rows = matrix.get("include") or [{k: v} for k in matrix for v in matrix[k]]
    for row in rows:
        for step in job["steps"]:
            uses = step.get("uses", "actions/checkout@").split("@")[0]
            assert uses in ("actions/checkout", "actions/upload-artifact"), step
            command = step.get("run", "")
            for word, value in row.items():
                command = command.replace("${{ matrix.%s }}" % word, value)
            assert "${{" not in command, command
            print(row.get("mpi", "-"), command)
END
    { fail "$workflow"; finish; }

for mpi in openmpi mpich; do
    grep -q "^$mpi make -C build check-quick$" "$work/commands" || fail "no quick job for $mpi"
done
sed 's/^[^ ]* //' "$work/commands" | sort -u | grep -v '^$' >"$work/each"
while read -r program argument rest <&3; do
    case $program in
    ./quickstart | .ci/run)
        [ -x "$top/$program" ] || fail "$program is no program"
        grep -q "^#     $program $argument " "$top/$program" || fail "$program has no $argument"
        ;;
    make) grep -q "^${rest##* }:" "$build/Makefile" || fail "no target $rest" ;;
    apt-get) ;;
    *) fail "$program is not known to be there" ;;
    esac
done 3<"$work/each"
finish

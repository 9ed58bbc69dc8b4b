# Test stages and their counts: each runner's own summary is read, and a runner that ends without one counts as a failure.

PASSED=0 FAILED=0 SKIPPED=0
STAGES=

# count STAGE SECONDS PASSED FAILED SKIPPED
count() {
    PASSED=$((PASSED + $3)) FAILED=$((FAILED + $4)) SKIPPED=$((SKIPPED + $5))
    STAGES="$STAGES$(printf '%-10s %4d passed, %d failed, %d skipped (%d s)' "$1" "$3" "$4" "$5" "$2")
"
}

# number PATTERN FILE: the number after the last match of the pattern, else 0.
number() { { grep -Eo "$1[0-9]+" "$2" || true; } | tail -n 1 | grep -Eo '[0-9]+$' || echo 0; }

# python_stage STAGE CONCURRENCY FILES…: runs these unittest files.
python_stage() {
    local stage=$1 concurrency=$2 log status=0 began=$SECONDS failed
    shift 2
    [ $# -gt 0 ] || return 0
    log=$(mktemp)
    say "== $stage"
    python3 "$PROJECT/scripts/lib/run_python.py" "$concurrency" "$@" | tee "$log" || status=$?
    failed=$(number '^python: .* passed, ' "$log")
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    count "$stage" $((SECONDS - began)) "$(number '^python: ' "$log")" "$failed" "$(number '^python: .* failed, ' "$log")"
    rm -f "$log"
}

# node_stage STAGE CONCURRENCY FILES…: runs these test files.
node_stage() {
    local stage=$1 concurrency=$2 log status=0 began=$SECONDS failed
    shift 2
    [ $# -gt 0 ] || return 0
    log=$(mktemp)
    say "== $stage"
    node --require ts-node/register/transpile-only --test --test-concurrency="$concurrency" \
        --test-reporter=spec --test-reporter-destination=stdout \
        --test-reporter=tap --test-reporter-destination="$log" "$@" || status=$?
    failed=$(($(number '^# fail ' "$log") + $(number '^# cancelled ' "$log")))
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    count "$stage" $((SECONDS - began)) "$(number '^# pass ' "$log")" "$failed" "$(number '^# skipped ' "$log")"
    rm -f "$log"
}

# Prints every stage and the sum; fails when a test did, or when none ran.
closing_counts() {
    printf '\n%s%d passed, %d failed, %d skipped\n' "$STAGES" "$PASSED" "$FAILED" "$SKIPPED"
    [ "$FAILED" -eq 0 ] && [ "$PASSED" -gt 0 ]
}

# Long work: its output goes to a log, a line every ten seconds says that it lives, and its end is shown when it failed.

PROGRESS_LOG=

# with_progress WHAT COMMAND…: runs the command; returns its exit status, and leaves its log in PROGRESS_LOG when that is not 0.
with_progress() {
    local what=$1 pid status=0 began=$SECONDS next
    shift
    PROGRESS_LOG=$(mktemp "${TMPDIR:-/tmp}/pulumi-sglang.XXXXXX")
    say "$what"
    "$@" >"$PROGRESS_LOG" 2>&1 </dev/null &
    pid=$!
    # A command in the background ignores ^C, so it is handed on.
    trap 'kill "$pid" 2>/dev/null; rm -f "$PROGRESS_LOG"; exit 130' INT TERM
    next=$((SECONDS + 8))
    while kill -0 "$pid" 2>/dev/null; do
        if [ "$SECONDS" -ge "$next" ]; then
            say "  $((SECONDS - began)) s: $(last_word "${1##*/}")"
            next=$((SECONDS + 8))
        fi
        sleep 0.2
    done
    wait "$pid" || status=$?
    trap - INT TERM
    if [ "$status" -eq 0 ]; then
        rm -f "$PROGRESS_LOG"
        [ $((SECONDS - began)) -lt 3 ] || say "  done in $((SECONDS - began)) s"
    else
        say "  failed after $((SECONDS - began)) s:"
        tail -n 20 "$PROGRESS_LOG" | sed 's/^/  | /' >&2
        trap 'rm -f "$PROGRESS_LOG"' EXIT
    fi
    return "$status"
}

# last_word COMMAND: the newest line of the log that is not empty, or that the command has said nothing yet.
last_word() {
    local line
    line=$(tail -c 4096 "$PROGRESS_LOG" | tr '\r' '\n' | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c 1-100)
    printf '%s\n' "${line:-$1 is at work and has said nothing yet}"
}

# log_says PATTERN: whether the last log has a line that matches the extended regular expression.
log_says() { grep -Eqi "$1" "$PROGRESS_LOG"; }

# explain_network_or_disk WHAT: fails with the cause when the last log shows one of the two usual ones.
explain_network_or_disk() {
    if log_says 'no space left on device|ENOSPC|disk quota'; then
        fail "$1: the disk is full" "Make room below $TOOL_CACHE and ${TMPDIR:-/tmp}, or set XDG_CACHE_HOME and TMPDIR to places that have some, then run this again."
    fi
    if log_says 'no such host|could not resolve|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|connection refused|i/o timeout|timed out|ETIMEDOUT|TLS handshake|network is unreachable|dns error'; then
        fail "$1: the network did not answer" "Check the proxy settings (HTTPS_PROXY, npm config get registry, go env GOPROXY, pip config list), then run this again."
    fi
}

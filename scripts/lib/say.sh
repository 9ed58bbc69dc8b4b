# What the scripts tell a person: plain lines on stderr, so that stdout stays for results.

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE REMEDY: says both and ends the script.
fail() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf '       %s\n' "$2" >&2
    exit 1
}

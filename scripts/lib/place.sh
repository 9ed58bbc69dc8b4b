# Where things are: the clone, and the two places that we write to.

PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# Tools that were fetched or built, kept for every clone of this user.
TOOL_CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set: it says where the tool cache goes}/.cache}/pulumi-sglang

# What belongs to this clone alone: state of the dev stack, its host root, its model. Git ignores it.
DEV=$PROJECT/.dev

# settle TEMPORARY PLACE: moves a finished folder to its place at once; who came first wins.
settle() {
    mkdir -p "$(dirname "$2")"
    [ -d "$2" ] || mv "$1" "$2" || true
    rm -rf "$1"
    [ -d "$2" ] || fail "$2 could not be made" "Is there space left? See: df -h $(dirname "$2")"
}

# scratch PLACE: prints a new empty folder beside PLACE, on the same file system, so that a rename is all that settles it.
scratch() {
    mkdir -p "$(dirname "$1")" || fail "$(dirname "$1") cannot be written" "Set XDG_CACHE_HOME to a folder that can."
    mktemp -d "$(dirname "$1")/.$(basename "$1").XXXXXX"
}

# version_at_least FOUND WANTED: whether the dotted version FOUND is WANTED or later; a leading v is allowed.
version_at_least() {
    [ "$(printf '%s\n%s\n' "${1#v}" "${2#v}" | sort -V | head -n 1)" = "${2#v}" ]
}

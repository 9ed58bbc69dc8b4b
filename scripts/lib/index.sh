# Everything that a script needs, and `ready`: what must be there before anything of the project runs.

set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
for part in say place progress node modules uv engine engine-official engine-build build; do
    # shellcheck source=/dev/null
    . "$here/$part.sh"
done
unset here part

# Makes what is missing, says nothing when nothing is, and leaves the tools first on PATH.
ready() {
    ensure_node
    ensure_modules
    ensure_engine
    ensure_uv
    ensure_build
    export PATH
    # Each Python process would compile its sources anew: 15 s a start for SGLang.
    unset PYTHONDONTWRITEBYTECODE
}

# The engine's own environment: the dev stack's, unless the caller named a backend of their own.
engine_environment() {
    export PULUMI_SKIP_UPDATE_CHECK=true
    # One failed host must not stop the others.
    export PULUMI_CONTINUE_ON_ERROR=${PULUMI_CONTINUE_ON_ERROR:-true}
    export PULUMI_HOME=${PULUMI_HOME:-$DEV/pulumi}
    [ -z "${PULUMI_BACKEND_URL:-}" ] || return 0
    mkdir -p "$DEV/state" "$PULUMI_HOME"
    export PULUMI_BACKEND_URL=file://$DEV/state
    # The dev stack keeps nothing secret; the word is in README.md.
    if [ -z "${PULUMI_CONFIG_PASSPHRASE_FILE:-}" ]; then
        export PULUMI_CONFIG_PASSPHRASE=${PULUMI_CONFIG_PASSPHRASE-dev}
    fi
}

# uv makes the virtual environments: one on PATH is used, else the pinned one of the Python index, in the cache.

UV_MINIMUM=0.5.0
UV_VERSION=0.13.9
UV_CACHED=$TOOL_CACHE/uv/$UV_VERSION

fetch_uv() {
    local temporary
    command -v python3 >/dev/null || fail "neither uv nor python3 is on PATH" "Install Python >= 3.8, or uv: https://docs.astral.sh/uv/getting-started/installation/"
    temporary=$(scratch "$UV_CACHED")
    # --target needs no venv module, which Debian keeps in a package of its own.
    if ! with_progress "Fetching uv $UV_VERSION" \
        python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$temporary" "uv==$UV_VERSION"; then
        rm -rf "$temporary"
        explain_network_or_disk "uv $UV_VERSION could not be fetched"
        ! log_says 'No module named pip' || fail "python3 has no pip" "Install it (Debian: apt install python3-pip), or uv: https://docs.astral.sh/uv/getting-started/installation/"
        fail "uv $UV_VERSION could not be fetched from the Python index" "Install uv and put it on PATH: https://docs.astral.sh/uv/getting-started/installation/"
    fi
    settle "$temporary" "$UV_CACHED"
}

# Puts a good uv on PATH.
ensure_uv() {
    local found
    found=$(uv --version 2>/dev/null | cut -d ' ' -f 2) || found=
    if [ -n "$found" ] && version_at_least "$found" "$UV_MINIMUM"; then
        return
    fi
    [ -x "$UV_CACHED/bin/uv" ] || fetch_uv
    PATH=$UV_CACHED/bin:$PATH
    "$UV_CACHED/bin/uv" --version >/dev/null || fail "$UV_CACHED/bin/uv does not run here" "Install uv and put it on PATH."
}

# node_modules: exactly what package-lock.json says.

MODULES_STAMP=$PROJECT/node_modules/.lock-digest

lock_digest() { cksum <"$PROJECT/package-lock.json"; }

ensure_modules() {
    if [ "$(cat "$MODULES_STAMP" 2>/dev/null)" = "$(lock_digest)" ]; then
        return
    fi
    command -v npm >/dev/null || fail "npm is not on PATH" "Install Node >= $NODE_MINIMUM with npm: https://nodejs.org/en/download"
    if ! with_progress "Installing the npm packages of package-lock.json" npm --prefix "$PROJECT" ci --loglevel http --no-audit --no-fund; then
        explain_network_or_disk "npm ci failed"
        fail "npm ci failed in $PROJECT" "The lines above are npm's; when they name the lock file, run: npm install"
    fi
    # npm scripts and tools with an `env node` line find the good Node there first.
    [ ! -x "$NODE_CACHED/bin/node" ] || ln -sfn "$NODE_CACHED/bin/node" "$PROJECT/node_modules/.bin/node"
    lock_digest >"$MODULES_STAMP"
}

# Node: @pulumi/pulumi and the provider want version 22 or later. A good one on PATH is used; else the registry's build, in the cache.

NODE_MINIMUM=22.0.0
NODE_VERSION=24.9.0
NODE_CACHED=$TOOL_CACHE/node/$NODE_VERSION

# The package that carries Node's binary for this machine; unlike the package `node` it needs no install script.
node_package() {
    local arch os
    case $(uname -m) in
        x86_64 | amd64) arch=x64 ;;
        aarch64 | arm64) arch=arm64 ;;
        *) fail "no Node build is known for $(uname -m)" "Install Node >= $NODE_MINIMUM and put it on PATH." ;;
    esac
    os=$(uname -s | tr '[:upper:]' '[:lower:]')
    printf 'node-%s-%s' "$os" "$arch"
}

fetch_node() {
    local temporary package
    command -v npm >/dev/null || fail "neither Node >= $NODE_MINIMUM nor npm is on PATH" "Install Node >= $NODE_MINIMUM with npm: https://nodejs.org/en/download"
    package=$(node_package)
    temporary=$(scratch "$NODE_CACHED")
    if ! with_progress "Fetching Node $NODE_VERSION (found: $(node --version 2>/dev/null || echo none), wanted: >= $NODE_MINIMUM)" \
        npm install --prefix "$temporary" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund "$package@$NODE_VERSION"; then
        rm -rf "$temporary"
        explain_network_or_disk "Node $NODE_VERSION could not be fetched"
        fail "Node $NODE_VERSION could not be fetched from the npm registry" "Install Node >= $NODE_MINIMUM and put it on PATH, then run this again."
    fi
    settle "$temporary/node_modules/$package" "$NODE_CACHED"
    rm -rf "$temporary"
}

# Puts a good Node first on PATH.
ensure_node() {
    if version_at_least "$(node --version 2>/dev/null || echo 0)" "$NODE_MINIMUM"; then
        return
    fi
    [ -x "$NODE_CACHED/bin/node" ] || fetch_node
    PATH=$NODE_CACHED/bin:$PATH
    "$NODE_CACHED/bin/node" --version >/dev/null || fail "$NODE_CACHED/bin/node does not run here" "Install Node >= $NODE_MINIMUM and put it on PATH."
}

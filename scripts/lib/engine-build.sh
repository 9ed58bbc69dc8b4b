# The engine from its Go modules: the way in for machines that reach package registries and nothing else.

GO_MINIMUM=1.26

# compile MODULE PACKAGE OUTPUT FLAGS…: builds one command of a module that pins it.
compile() {
    local module=$1 package=$2 output=$3
    shift 3
    (cd "$PROJECT/scripts/engine/$module" && go build -v -mod=readonly -buildvcs=false -trimpath -o "$output" "$@" "$package")
}

# A Go from 1.21 on fetches a newer tool chain by itself, unless it was told not to.
require_go() {
    local found remedy
    remedy="Install Pulumi (https://www.pulumi.com/docs/iac/download-install/), or Go >= $GO_MINIMUM (https://go.dev/dl/) to build it here, then run this again."
    command -v go >/dev/null || fail "no Pulumi engine: none on PATH, the official release is out of reach, and there is no Go to build it with" "$remedy"
    found=$(go env GOVERSION 2>/dev/null | sed 's/^go//; s/[^0-9.].*//')
    version_at_least "${found:-0}" "$GO_MINIMUM" && return
    if version_at_least "${found:-0}" 1.21 && [ "$(go env GOTOOLCHAIN)" != local ]; then
        return
    fi
    fail "Go ${found:-(unknown version)} is too old to build the Pulumi engine, which needs >= $GO_MINIMUM" "$remedy"
}

build_failed() {
    rm -rf "$1"
    ! log_says 'SECURITY ERROR|checksum mismatch|verifying .*: checksum' || fail "a Go module is not the one that scripts/engine/*/go.sum names" "The proxy (go env GOPROXY) serves altered contents, or the module cache is damaged: go clean -modcache. Nothing was installed."
    ! log_says 'signal: killed|cannot allocate memory' || fail "the build of the Pulumi engine ran out of memory" "It needs about 3 GB: free some, or install Pulumi by hand."
    explain_network_or_disk "the Pulumi engine could not be built"
    fail "the Pulumi engine could not be built from its Go modules" "The lines above are Go's. Or install Pulumi by hand: https://www.pulumi.com/docs/iac/download-install/"
}

built_engine() {
    local temporary version=github.com/pulumi/pulumi/sdk/v3/go/common/version.Version
    require_go
    say "Building the engine from its Go modules instead: about 7 minutes on 2 cores, once; 5 GB of Go caches."
    temporary=$(scratch "$ENGINE_CACHED")
    with_progress "Building pulumi $ENGINE_VERSION" \
        compile cli github.com/pulumi/pulumi/pkg/v3/cmd/pulumi "$temporary/bin/pulumi" \
        -ldflags "-s -w -X $version=v$ENGINE_VERSION" || build_failed "$temporary"
    with_progress "Building its Node language host" \
        compile nodejs github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs "$temporary/bin/pulumi-language-nodejs" \
        -ldflags "-s -w" || build_failed "$temporary"
    chmod 755 "$temporary"
    settle "$temporary" "$ENGINE_CACHED"
}

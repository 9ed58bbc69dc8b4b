# The Pulumi engine: a good one on PATH, else the cached one, else the official release, else built from its Go modules.

# refreshBeforeUpdate, by which previews see the live host, is honoured in whole from 3.181; older engines than this were never tried.
ENGINE_MINIMUM=3.200.0
ENGINE_VERSION=3.274.1
ENGINE_CACHED=$TOOL_CACHE/engine/$ENGINE_VERSION

# The engine on PATH, when it is new enough and its Node language host is there too; prints nothing.
engine_on_path() {
    local found
    found=$(PULUMI_SKIP_UPDATE_CHECK=true pulumi version 2>/dev/null) || return 1
    version_at_least "$found" "$ENGINE_MINIMUM" || return 1
    command -v pulumi-language-nodejs >/dev/null || [ -x "$(dirname "$(readlink -f "$(command -v pulumi)")")/pulumi-language-nodejs" ]
}

# Puts a good engine first on PATH.
ensure_engine() {
    if [ -x "$ENGINE_CACHED/bin/pulumi" ]; then
        engine_on_path || PATH=$ENGINE_CACHED/bin:$PATH
        return
    fi
    ! engine_on_path || return 0
    say "No Pulumi >= $ENGINE_MINIMUM with its Node language host on PATH (found: $(PULUMI_SKIP_UPDATE_CHECK=true pulumi version 2>/dev/null || echo none))."
    official_engine || built_engine
    PATH=$ENGINE_CACHED/bin:$PATH
    PULUMI_SKIP_UPDATE_CHECK=true pulumi version >/dev/null || fail "$ENGINE_CACHED/bin/pulumi does not run here" "Remove that folder and run this again, or install Pulumi: https://www.pulumi.com/docs/iac/download-install/"
}

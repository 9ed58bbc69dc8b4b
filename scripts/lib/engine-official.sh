# The official release of the engine. Where it cannot be reached we know within seconds.

# Another place that holds the same files, for networks that mirror them.
ENGINE_RELEASES=${PULUMI_SGLANG_RELEASES:-https://get.pulumi.com/releases/sdk}
ENGINE_CHECKSUMS=${PULUMI_SGLANG_RELEASES:-https://github.com/pulumi/pulumi/releases/download/v$ENGINE_VERSION}

engine_platform() {
    local arch
    case $(uname -m) in
        x86_64 | amd64) arch=x64 ;;
        aarch64 | arm64) arch=arm64 ;;
        *) arch=$(uname -m) ;;
    esac
    printf '%s-%s' "$(uname -s | tr '[:upper:]' '[:lower:]')" "$arch"
}

sha256_of() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Fails when the archive is not the one that the release's list of checksums names.
verify_engine() {
    local archive=$1 list wanted found
    if ! list=$(curl -fsSL --connect-timeout 4 --max-time 30 "$ENGINE_CHECKSUMS/pulumi-$ENGINE_VERSION-checksums.txt" 2>/dev/null); then
        say "  no list of checksums at $ENGINE_CHECKSUMS: only the transfer vouches for the archive"
        return
    fi
    wanted=$(printf '%s\n' "$list" | awk -v name="$(basename "$archive")" '$2 == name || $2 == "*" name { print $1 }')
    found=$(sha256_of "$archive")
    [ "$wanted" = "$found" ] || fail "$(basename "$archive") from $ENGINE_RELEASES has sha256 $found, expected ${wanted:-an entry in the list of checksums}" \
        "Something on the way altered it or it was cut off. Nothing was installed; try again, or install Pulumi by hand."
}

# Returns 1 when the release cannot be reached.
official_engine() {
    local name url temporary
    name=pulumi-v$ENGINE_VERSION-$(engine_platform).tar.gz
    url=$ENGINE_RELEASES/$name
    command -v curl >/dev/null || { say "curl is not there, so the official release is not tried."; return 1; }
    if ! curl -fsSIL --connect-timeout 4 --max-time 10 -o /dev/null "$url" 2>/dev/null; then
        say "The official release is out of reach ($url)."
        return 1
    fi
    temporary=$(scratch "$ENGINE_CACHED")
    if ! with_progress "Fetching Pulumi $ENGINE_VERSION" \
        curl -fsSL --connect-timeout 4 --speed-limit 1024 --speed-time 30 -o "$temporary/$name" "$url"; then
        rm -rf "$temporary"
        ! log_says '\(23\)|no space' || fail "no space for Pulumi $ENGINE_VERSION below $TOOL_CACHE" "Make room (500 MB), or set XDG_CACHE_HOME to a place that has some."
        return 1
    fi
    (verify_engine "$temporary/$name") || { rm -rf "$temporary"; exit 1; }
    if ! tar -xzf "$temporary/$name" -C "$temporary"; then
        rm -rf "$temporary"
        fail "$name could not be unpacked below $TOOL_CACHE" "Make room (500 MB), or set XDG_CACHE_HOME to a place that has some."
    fi
    mkdir "$temporary/whole"
    mv "$temporary/pulumi" "$temporary/whole/bin"
    settle "$temporary/whole" "$ENGINE_CACHED"
    rm -rf "$temporary"
}

# Debian packages for the test hosts and for the sshd of the tests; only root on a Debian can have them by itself.

HOST_PACKAGES="systemd-container debootstrap openssh-client openssh-server iproute2 rsync sudo tcsh fish"

# Installs what is missing; says so where that cannot be, because the tests that need it then skip themselves.
ensure_host_packages() {
    local missing
    command -v dpkg-query >/dev/null || { say "No Debian here: the tests on real hosts skip what they cannot have."; return 0; }
    missing=$(for package in $HOST_PACKAGES; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || printf '%s ' "$package"
    done)
    [ -n "$missing" ] || return 0
    [ "$(id -u)" -eq 0 ] || { say "Not root, so these packages for the tests on real hosts stay missing: $missing"; return 0; }
    export DEBIAN_FRONTEND=noninteractive
    with_progress "Installing Debian packages: $missing" sh -c "apt-get update -q && apt-get install -q -y --no-install-recommends $missing" ||
        say "The tests that need them skip themselves."
}

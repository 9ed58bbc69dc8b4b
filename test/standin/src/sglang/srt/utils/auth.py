"""Who may call what, as SGLang decides it."""

import secrets

ADMIN_PATHS = ("/pause_generation", "/continue_generation", "/flush_cache")
OPEN_PREFIXES = ("/health", "/ready", "/metrics")


def _carries(header, key):
    return secrets.compare_digest((header or "").encode(), f"Bearer {key}".encode())


def allowed(path, header, api_key, admin_api_key):
    """Whether a request to `path` with this Authorization header may pass."""
    if path.startswith(OPEN_PREFIXES):
        return True
    if path in ADMIN_PATHS and admin_api_key:
        return _carries(header, admin_api_key)
    if api_key:
        return _carries(header, api_key)
    return True

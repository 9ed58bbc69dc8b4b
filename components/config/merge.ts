import type { ChecksConfig } from "./checks";
import type { ConnectionConfig } from "./connection";
import type { PlacementConfig, ServiceConfig } from "./service";

/** A connection over the defaults: field by field, options of ssh key by key. */
export function mergeConnections(base: ConnectionConfig = {}, over: ConnectionConfig = {}): ConnectionConfig {
    return { ...base, ...over, ...maps(base, over, ["options"]) };
}

/**
 * A service as a host has it: the stack's defaults, then the service, then what the host says. Maps are merged key by
 * key, lists and single values replaced; a variable that ends as null, or a flag that ends as false, is left out.
 */
export function mergeServices(
    defaults: ServiceConfig | undefined,
    service: ServiceConfig,
    placement: Partial<PlacementConfig>,
): ServiceConfig {
    const { service: _service, as: _as, ...own } = placement;
    return over(over(defaults ?? {}, service), own);
}

function over(base: ServiceConfig, next: ServiceConfig): ServiceConfig {
    return { ...base, ...next, ...maps(base, next, ["env", "flags", "limits", "ready", "drain", "checks"]) };
}

/** The checks of a venv and those of a service that runs from it: lists joined, the service's word on the rest. */
export function mergeChecks(venv: ChecksConfig = {}, service: ChecksConfig = {}): ChecksConfig {
    const imports = [...(venv.imports ?? []), ...(service.imports ?? [])];
    const assert = [...(venv.assert ?? []), ...(service.assert ?? [])];
    const acceptLibraries = [...(venv.acceptLibraries ?? []), ...(service.acceptLibraries ?? [])];
    return {
        ...venv,
        ...service,
        ...(imports.length > 0 && { imports }),
        ...(assert.length > 0 && { assert }),
        ...(acceptLibraries.length > 0 && { acceptLibraries }),
    };
}

function maps<T extends object>(base: T, over: T, keys: (keyof T)[]): Partial<T> {
    const merged = keys
        .filter((key) => base[key] !== undefined || over[key] !== undefined)
        .map((key) => [key, { ...base[key], ...over[key] }]);
    return Object.fromEntries(merged);
}

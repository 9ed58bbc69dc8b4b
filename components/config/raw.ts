/**
 * Careful access to a value of any shape. Errors about names are found on the raw value, so that a slip in one place
 * does not hide those in others.
 */
export type Raw = Record<string, unknown>;

/** The value as a mapping; {} when it is something else. */
export function mapping(value: unknown): Raw {
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : {};
}

/** The value as a list; [] when it is something else. */
export function list(value: unknown): unknown[] {
    return Array.isArray(value) ? value : [];
}

/** One service on one host, with everything that is said of it merged, on the raw value. */
export interface RawPlacement {
    /** `["hosts", "ct200", "services", 0]` */
    path: (string | number)[];
    host: string;
    /** The service that it is of. */
    service: unknown;
    /** Its name on the host. */
    name: string;
    /** What the host's entry itself says; `dflash` is `{ service: dflash }`. */
    own: Raw;
    /** The defaults, the service and the entry, later ones over earlier ones, field by field. */
    merged: Raw;
    /** Whether the host is the control machine. */
    local: boolean;
}

/** Every service on every host. */
export function placements(raw: unknown): RawPlacement[] {
    const { defaults, services, hosts } = mapping(raw);
    return Object.entries(mapping(hosts)).flatMap(([host, value]) =>
        list(mapping(value).services).map((entry, index) => {
            const own = typeof entry === "string" ? { service: entry } : mapping(entry);
            const { service } = own;
            const merged = {
                ...mapping(mapping(defaults).service),
                ...mapping(mapping(services)[String(service)]),
                ...own,
            };
            const path = ["hosts", host, "services", index];
            return { path, host, service, name: String(own.as ?? service), own, merged, local: isLocal(raw, host) };
        }),
    );
}

/** Whether a host is the control machine itself. */
export function isLocal(raw: unknown, host: string): boolean {
    return connectionOf(raw, host).type === "local";
}

/** How a host is reached, merged over the defaults. */
export function connectionOf(raw: unknown, host: string): Raw {
    const { defaults, hosts } = mapping(raw);
    return { ...mapping(mapping(defaults).connection), ...mapping(mapping(mapping(hosts)[host]).connection) };
}

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Connection } from "../../provider/connection";
import { type ConnectedHost, connectHost } from "../../provider/host/connect";
import type { HostError } from "../../provider/host/host";
import type { Sshd } from "./sshd";
import { User } from "./user";

/** A root that exists on no machine. */
export const ROOT = "/nowhere/sglang";

/** The host behind a server, closed when the test ends. */
export function reach(t: TestContext, server: Sshd, more: Partial<Connection> = {}): ConnectedHost {
    const host = connectHost(server.connection(more));
    t.after(() => host.close());
    return host;
}

/** A user of this machine, removed when the test ends. */
export function makeUser(t: TestContext, given?: ConstructorParameters<typeof User>[0]): User {
    const made = new User(given);
    t.after(() => made.remove());
    return made;
}

/** Asserts that a look, or the given call, is refused with these fields of a report. */
export async function refuses(
    host: ConnectedHost,
    report: Record<string, unknown>,
    call: Promise<unknown> = host.look(ROOT),
): Promise<void> {
    await assert.rejects(call, (error: HostError) => {
        const found = Object.fromEntries(Object.keys(report).map((key) => [key, error.report[key as "code"]]));
        assert.deepEqual(found, report, JSON.stringify(error.report, null, 1));
        return true;
    });
}

import { setTimeout as pause } from "node:timers/promises";
import type { Connection } from "../connection";
import { HostError } from "./host";

/** Logins under way at once, over all hosts, and the fewest that this is lowered to where servers drop some. */
const AT_ONCE = 16;
const FEWEST = 2;

/** How often a connection is tried that is dropped before the server says a word, and the milliseconds before the second time. */
const ATTEMPTS = 6;
const FIRST_WAIT = 300;

/** What ssh says when sshd has too many logins under way (MaxStartups, 10:30:100): nothing was asked of it yet. */
const DROPPED = /(?:kex|ssh)_exchange_identification: .*(?:closed|reset)/i;

let limit = AT_ONCE;
let active = 0;
const waiting: (() => void)[] = [];

/** Runs what logs in, after others where too many do so already, and again, more slowly, where sshd dropped it for that. */
export async function paced<T>({ type }: Connection, login: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
        try {
            return await (type === "local" ? login() : inTurn(login));
        } catch (error) {
            if (attempt === ATTEMPTS || !wasDropped(error)) {
                throw error;
            }
            limit = Math.max(FEWEST, Math.floor(limit / 2));
            // Those that were dropped together must not come back together.
            await pause(FIRST_WAIT * 1.6 ** (attempt - 1) * (0.5 + Math.random()));
        }
    }
}

async function inTurn<T>(login: () => Promise<T>): Promise<T> {
    while (active >= limit) {
        await new Promise<void>((resolve) => waiting.push(resolve));
    }
    active++;
    try {
        return await login();
    } finally {
        active--;
        waiting.shift()?.();
    }
}

/** A jump host that refuses the login drops the connection as well; it would only refuse again. */
function wasDropped(error: unknown): boolean {
    if (!(error instanceof HostError) || error.report.code !== "unreachable") {
        return false;
    }
    return DROPPED.test(`${error.report.message}\n${error.report.detail ?? ""}`);
}

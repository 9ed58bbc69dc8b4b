import { Writable } from "node:stream";
import { type CallOptions, type Host, HostError } from "../host/host";
import type { Contents } from "./contents";
import type { Taken } from "./pin";

/** What the agent says of one distribution of a donor: `donor.look` of docs/protocol.md. */
interface Told {
    name: string;
    version: string;
    stamp: string;
    digest: string;
    tags: string[];
    notes: string[];
    listing: number;
}

/** What a donor has now. */
export interface Looked {
    taken: Taken;
    /** What a person should know, a sentence each. */
    notes: string[];
}

/** Codes of failures that say nothing of the donor's packages: it is off, refuses us, or the venv is gone. */
const AWAY = ["unreachable", "host-key", "auth", "sudo", "no-python", "lost", "silent", "not-a-venv", "other-machine"];

/** Whether a failure means that the donor cannot be asked. */
export function isAway(error: unknown): error is HostError {
    return error instanceof HostError && AWAY.includes(error.report.code);
}

/** Asks a donor what it has of these names and patterns. What was hashed before (`known`) is not hashed again; listings go into the cache. */
export async function lookAt(
    host: Host,
    { venv, packages }: { venv: string; packages: string[] },
    known: Taken[],
    contents: Contents,
    options: Pick<CallOptions, "progress" | "signal">,
): Promise<Looked> {
    const pieces: Buffer[] = [];
    const into = new Writable({
        write(piece: Buffer, _encoding, done) {
            pieces.push(piece);
            done();
        },
    });
    const args = { venv, packages, known: stampsOf(known, contents) };
    const told = await host.call<{ packages: Told[] }>("donor.look", args, { ...options, into });
    const listings = Buffer.concat(pieces);
    let at = 0;
    for (const { digest, listing } of told.packages.filter((one) => one.listing > 0)) {
        const found = contents.add(listings.subarray(at, at + listing));
        at += listing;
        if (found !== digest) {
            throw new HostError(host.label, {
                code: "bad-content",
                message: "a donor's listing arrived with other bytes than announced",
                found,
                expected: digest,
            });
        }
    }
    return {
        taken: Object.fromEntries(
            told.packages.map(({ name, version, digest, stamp, tags }) => [name, { version, digest, stamp, tags }]),
        ),
        notes: told.packages.flatMap(({ name, version, notes }) => notes.map((note) => `${name} ${version}: ${note}`)),
    };
}

/** Stamps and their digests, by distribution; without those whose listing is not here any more: it has to be made again. */
function stampsOf(known: Taken[], contents: Contents): Record<string, Record<string, string>> {
    const stamps: Record<string, Record<string, string>> = {};
    for (const [name, { stamp, digest }] of known.flatMap((taken) => Object.entries(taken))) {
        if (contents.has(digest)) {
            stamps[name] = { ...stamps[name], [stamp]: digest };
        }
    }
    return stamps;
}

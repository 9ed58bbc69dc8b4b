import { Writable } from "node:stream";
import type { Host } from "./host";

/** The bytes of one content of the store below `root`. Throws HostError `missing-content`. */
export async function fetchContent(host: Pick<Host, "call">, root: string, sha256: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    const into = new Writable({
        write(piece: Buffer, _encoding, done) {
            pieces.push(piece);
            done();
        },
    });
    await host.call("store.get", { root, sha256 }, { into });
    return Buffer.concat(pieces);
}

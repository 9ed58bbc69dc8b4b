import { deliver, type Supplied } from "../donors/deliver";
import { type Listed, readListing } from "../donors/listing";
import { donorName } from "../donors/pin";
import { remoteCommand } from "../host/command";
import { HostError } from "../host/host";
import { type Missing, type Rest, restOf } from "../host/resumed";
import type { Work } from "../resource";
import type { DonorSource } from "./donorSource";
import type { PackageOverlayInputs } from "./inputs";

/** Throws HostError unless what is taken is for the Python, processor and C library of the venv's base. Gigabytes that it could not run are not worth the way. */
export async function requireFit(
    sources: DonorSource[],
    { root, base }: PackageOverlayInputs,
    work: Work,
): Promise<void> {
    if (sources.length > 0 && base !== undefined) {
        const overlays = sources.map((one) => ({ about: about(one), tags: one.pin.tags }));
        await work.host.call("overlay.fits", { root, base, overlays }, work);
    }
}

/** Brings the host's store what these sources need, as far as the host has not laid them out already. */
export async function bring(sources: DonorSource[], inputs: PackageOverlayInputs, work: Work): Promise<void> {
    if (sources.length === 0) {
        return;
    }
    const { root } = inputs;
    const { host, donors } = work;
    await requireFit(sources, inputs, work);
    const digests = sources.map(({ digest }) => digest);
    const { missing } = await host.call<{ missing: string[] }>("overlay.missing", { root, digests }, work);
    const wanted = sources.filter(({ digest }) => missing.includes(digest));
    if (wanted.length > 0) {
        await bringAll(wanted, inputs, work);
        await donors.contents.tidy();
    }
}

async function bringAll(sources: DonorSource[], inputs: PackageOverlayInputs, work: Work): Promise<void> {
    const { root } = inputs;
    const { host, donors, progress, signal } = work;
    const listed = new Map<DonorSource, Listed[]>();
    for (const source of sources) {
        const path = await donors.listing(source.donor, source.pin, source.packages[0], inputs);
        if (path === undefined) {
            throw nobody(source, work);
        }
        await host.send(root, [{ sha256: source.digest, ...path }], progress);
        listed.set(source, await readListing(path.path));
    }
    const all = [...new Set([...listed.values()].flat().map(({ sha256 }) => sha256))];
    const answer = await host.call<Missing>("store.missing", { root, sha256: all }, { progress, signal });
    const lacking = new Set(answer.missing);
    await reuse(
        [...listed].filter(([{ donor }]) => !donor.own).flatMap(([, files]) => files),
        lacking,
        inputs,
        work,
    );
    const supplied: Supplied[] = [];
    for (const [source, files] of listed) {
        const needed = files.filter(({ sha256 }) => lacking.delete(sha256));
        if (needed.length > 0) {
            supplied.push(...(await supply(source, needed, answer, inputs, work)));
        }
    }
    await deliver({ host, root, progress, signal }, supplied, donors.contents);
}

/** What the base has already with the same bytes need not travel: two builds of one version share most of their files. */
async function reuse(
    all: Listed[],
    lacking: Set<string>,
    { root, venv, base }: PackageOverlayInputs,
    { host, progress, signal }: Work,
): Promise<void> {
    const files = all.filter(({ sha256, size }) => size > 0 && lacking.has(sha256));
    if (base === undefined || files.length === 0) {
        return;
    }
    const told = files.map(({ place, sha256, size }) => ({ place, sha256, size }));
    const args = { root, venv, base, files: told };
    const { reused } = await host.call<{ reused: string[] }>("donor.reuse", args, { progress, signal });
    for (const sha256 of reused) {
        lacking.delete(sha256);
    }
}

/** Copies what lies on the same host at once; says of the rest who has it. */
async function supply(
    source: DonorSource,
    files: Listed[],
    missing: Missing,
    inputs: PackageOverlayInputs,
    work: Work,
): Promise<Supplied[]> {
    const { donor, pin } = source;
    if (donor.own && (await work.donors.has(donor, source.packages[0], pin.digest))) {
        await work.host.call("donor.take", { root: inputs.root, venv: donor.venv, files }, work);
        return [];
    }
    if (donor.direct !== undefined && (await work.donors.has(donor, source.packages[0], pin.digest))) {
        await fetchDirectly(donor.direct, source, restOf(files, missing), inputs, work);
        return [];
    }
    const stream = await work.donors.streamFor(donor, pin, source.packages[0], files, inputs);
    if (stream === undefined) {
        throw nobody(source, work);
    }
    return restOf(files, missing).map((file) => ({ ...file, stream }));
}

/** Lets the host fetch from the donor by its own ssh. What that does not reach is an error, and never another way. */
async function fetchDirectly(
    ssh: string,
    { donor }: DonorSource,
    rest: (Listed & Rest)[],
    { root }: PackageOverlayInputs,
    work: Work,
): Promise<void> {
    const files = rest.map(({ place, sha256, size, from }) => ({ place, sha256, size, ...(from > 0 && { from }) }));
    const { python } = donor.connection;
    const command = remoteCommand("none");
    await work.host.call("donor.direct", { root, venv: donor.venv, ssh, command, python, files }, work);
}

function nobody(source: DonorSource, { host, donors }: Work): HostError {
    const { donor, pin, packages } = source;
    const name = donorName(donor, donor.own);
    const away = donors.why(donor, packages[0]);
    return new HostError(host.label, {
        code: "nobody-has-it",
        message: `nobody has the bytes of ${about(source)} that were taken from ${name}`,
        found: `${away ?? "the donor has others now"}; not in this machine's cache, and on no other host of the stack that could be asked`,
        expected: `digest ${pin.digest.slice(0, 12)}`,
        remedy: `${away ? "bring the donor back" : "take `pin` out, so that `up` takes what the donor has now"}, or take ${packages[0]} from another source (a wheel, an archive, a directory)`,
    });
}

function about({ packages, version }: DonorSource): string {
    return `${packages[0]} ${version}`;
}

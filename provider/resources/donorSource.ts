import type { Connection } from "../connection";
import type { Asked, Donors, Found } from "../donors/donors";
import { isAway } from "../donors/look";
import { donorName, type Pin, type Pins, type Taken, takenOf } from "../donors/pin";
import { explain } from "../errors";
import { Invalid } from "../invalid";
import type { Path } from "../path";
import type { Tell } from "../resource";
import type { Overlay, PackageOverlayInputs } from "./inputs";
import type { OverlaySource } from "./overlaySource";

/** One distribution of a donor, as the host is told of it. */
export interface DonorSource extends OverlaySource {
    donor: Asked;
    pin: Pin;
}

/** What an overlay asks of a donor; undefined when it has another source. */
export function askedOf({ packages = [], from }: Overlay, target: Connection): Asked | undefined {
    if (!("venv" in from)) {
        return undefined;
    }
    const { connection = target, venv, pin = false, direct } = from;
    return { connection, venv, packages, pin, direct, own: connection.name === target.name };
}

/**
 * What the overlays take from donors now, by donor. Undefined when one cannot be asked and nothing is known of it; of one that is there
 * and has not what was asked for, Invalid.
 */
export async function takenFrom(
    inputs: PackageOverlayInputs,
    prior: Pins,
    donors: Donors,
    tell: Tell,
): Promise<Pins | undefined> {
    const pins: Pins = {};
    const problems: { path: Path; text: string }[] = [];
    let unknown = false;
    for (const [at, overlay] of inputs.overlays.entries()) {
        const asked = askedOf(overlay, inputs.connection);
        if (asked === undefined) {
            continue;
        }
        const name = donorName(asked, asked.own);
        try {
            const found = await donors.find(asked, prior[name], tell.progress);
            sayOf(name, found, prior[name], tell);
            pins[name] = { ...pins[name], ...found.taken };
        } catch (error) {
            if (isAway(error) && error.report.code !== "not-a-venv") {
                unknown = true;
            } else {
                problems.push({ path: ["overlays", at, "from"], text: explain(error).replace(/\n\s*/g, "; ") });
            }
        }
    }
    Invalid.when(problems);
    donors.learn({ ...inputs, pins });
    return unknown ? undefined : pins;
}

/** What is odd about a distribution is said when it is taken, and not again in each preview. */
function sayOf(name: string, { taken, notes, away }: Found, prior: Taken | undefined, tell: Tell): void {
    const news = Object.entries(taken).some(([one, { digest }]) => prior?.[one]?.digest !== digest);
    for (const note of news ? notes : []) {
        tell.warn(`${name}: ${note}`);
    }
    if (away !== undefined) {
        const [reason] = explain(away).split("\n");
        tell.warn(`donor ${name} cannot be asked, so what was taken from it before is used: ${reason}`);
    }
}

/** Whether a source is a donor's. */
export function isDonors(source: OverlaySource): source is DonorSource {
    return "donor" in source;
}

/** One source for each distribution that an overlay takes. Each is a tree of its own on the host: what did not change is not laid out again. */
export function donorSources(asked: Asked, pins: Pins): DonorSource[] {
    const taken = takenOf(pins[donorName(asked, asked.own)], asked.packages) ?? {};
    const { connection, venv, packages, own } = asked;
    return Object.entries(taken).map(([name, pin]) => ({
        donor: asked,
        pin,
        packages: [name],
        version: pin.version,
        digest: pin.digest,
        source: { kind: "donor", listing: pin.digest, venv, asked: packages, ...(!own && { host: connection.name }) },
        contents: [],
    }));
}

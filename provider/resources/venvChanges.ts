import type { HostFacts } from "../host/facts";
import type { Caused, Planning } from "../resource";
import { byCause, cut, fromTo, linesByCause, mostLines } from "../told";
import { assetText } from "./assets";
import { normalName } from "./distributionName";
import { type HostDiff, hostDiff } from "./hostDiff";
import type { VenvInputs } from "./inputs";
import { tellMovedBase } from "./movedBase";
import { diffLines, type TextChange } from "./udiff";
import { briefly, exchangeOf, pathOf, rankOf, wordOf } from "./venvDrift";

/** Edited files whose differences are shown at most; the others are named. */
const MOST_FILES = 10;

interface Live {
    release: string;
    packages: Record<string, string>;
    files: Record<string, string>;
}

/**
 * Says what was changed on the host and what becomes of that, and what another base brings. What changes in overlays and
 * patches is said by their own rows.
 */
export async function tellVenv(
    wanted: VenvInputs,
    prior: Live,
    release: string,
    facts: HostFacts,
    work: Planning,
): Promise<void> {
    const there = facts.venvs[wanted.name]?.releases[release]?.complete === true;
    const drifted = work.changes.filter(({ cause, path }) => cause !== "config" && isItem(path));
    const base = work.changes.filter(({ path }) => path[0] === "base");
    const told = [
        ...(drifted.length > 0 ? await tellDrift(wanted, prior, release, drifted, facts, work) : []),
        ...(release !== prior.release ? tellMovedBase(facts.venvs[wanted.name]?.base) : []),
        ...(base.length > 0 ? await tellBase(wanted, base, facts) : []),
        ...(release !== prior.release && there ? await tellThere(wanted, release, work) : []),
    ];
    if (told.length > 0) {
        work.info(told.join("\n"));
    }
}

function isItem(path: Caused["path"]): boolean {
    return path[0] === "files" || path[0] === "packages";
}

async function tellDrift(
    { root, name }: VenvInputs,
    prior: Live,
    release: string,
    drifted: Caused[],
    facts: HostFacts,
    work: Planning,
): Promise<string[]> {
    const made = facts.venvs[name]?.releases[prior.release];
    const paths = [...Object.keys(made?.files ?? {}), ...(made?.drift ?? []).map(({ path }) => path)];
    const rank = ({ path: [, item] }: Caused) => rankOf(pathOf(String(item), paths), made);
    const ordered = drifted.toSorted((one, other) => rank(one) - rank(other));
    const what = linesByCause(ordered, ({ path: [top, item] }) => {
        const exchanged = top === "packages" ? made?.exchanged[String(item)] : undefined;
        if (exchanged !== undefined) {
            return `${item} ${exchangeOf(exchanged)}`;
        }
        const is = prior[top === "files" ? "files" : "packages"][String(item)] ?? "missing";
        return `${pathOf(String(item), paths)} ${briefly(is)}`;
    });
    const lines = cut(what, mostLines());
    const fate =
        release === prior.release
            ? "up puts back what the release was made of"
            : `up makes release ${release} without that; the old one keeps it`;
    return [...lines, fate, ...(await editedLines(work, root, name, made?.drift ?? []))];
}

/** A release that is wanted again. Nobody looked at its files while it was not, so they are looked at now. */
async function tellThere({ root, name }: VenvInputs, release: string, work: Planning): Promise<string[]> {
    const { drift, exchanged } = await hostDiff(work.host, root, name, { release });
    const changed = [
        ...Object.entries(exchanged).map(([one, found]) => `  ${one} ${exchangeOf(found)}`),
        ...drift.map((one) => `  ${one.path} ${wordOf(one)}`),
    ];
    if (changed.length === 0) {
        return [`release ${release} is still on the host: nothing is built`];
    }
    return [
        `release ${release} is still on the host, but was changed there; up puts back what it was made of`,
        ...cut(changed, mostLines()),
        ...(await editedLines(work, root, name, drift, release)),
    ];
}

/** How edited files of a release differ from what was made, line by line. */
async function editedLines(
    work: Planning,
    root: string,
    name: string,
    drift: HostDiff["drift"],
    release?: string,
): Promise<string[]> {
    const edited = drift.filter(({ kind, mode }) => kind === "edited" && mode === undefined).map(({ path }) => path);
    const files = edited.filter((path) => !path.includes(".dist-info/")).slice(0, MOST_FILES);
    const known = files.length === 0 ? [] : (await hostDiff(work.host, root, name, { files, release })).files;
    const differences = known.filter((one): one is TextChange => one !== undefined && "lines" in one);
    return diffLines(differences, " (as made → on the host)");
}

/** Another base: its fields, and of locked requirements each distribution that would have another version. */
async function tellBase(wanted: VenvInputs, base: Caused[], facts: HostFacts): Promise<string[]> {
    const fields = byCause(base, ({ path }) => `base ${path[1]}`);
    if ("adopt" in wanted.base) {
        return [fields];
    }
    const live = facts.venvs[wanted.name];
    const before = (live?.release == null ? undefined : live.releases[live.release]?.packages) ?? {};
    const after = pinned(await assetText(wanted.base.requirements));
    const differing = Object.keys(after).filter(
        (one) => before[one] !== after[one] && wanted.packages[one] === undefined,
    );
    const lines = linesByCause(
        differing.sort().map((one) => ({ path: [one], kind: "update", cause: "config" })),
        ({ path: [one] }) => `${one} ${fromTo(before[one], after[one])}`,
    );
    return [fields, ...cut(lines, mostLines()).map((line) => `  ${line}`)];
}

/** Name => version of a file of locked requirements. */
function pinned(requirements: string): Record<string, string> {
    const found = requirements.matchAll(/^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;\\]+)/gm);
    return Object.fromEntries([...found].map(([, name, version]) => [normalName(name), version]));
}

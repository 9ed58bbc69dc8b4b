import { counted } from "../counted";
import type { Contents } from "../donors/contents";
import { filesBetween } from "../donors/listing";
import type { Pins } from "../donors/pin";
import type { Caused } from "../resource";

/** The differences, those told apart that the donor made: the declaration is the same, and what it has is another. */
export async function byDonor(
    changes: Caused[],
    before: Pins | undefined,
    after: Pins | undefined,
    contents: Contents,
): Promise<Caused[]> {
    const told = changes.map(async (change): Promise<Caused> => {
        const [top, name] = change.path;
        const donor = Object.keys(after ?? {}).find((one) => after?.[one][name] !== undefined);
        const [old, now] = donor === undefined ? [] : [before?.[donor]?.[name], after?.[donor][name]];
        if (top !== "packages" || change.cause !== "config" || old === undefined || now === undefined) {
            return change;
        }
        const files = await filesBetween(contents.path(old.digest), contents.path(now.digest));
        const note =
            old.version !== now.version || files === undefined
                ? undefined
                : `${counted(files, "file")} changed on the donor`;
        return { ...change, cause: "donor", ...(note && { note }) };
    });
    return Promise.all(told);
}

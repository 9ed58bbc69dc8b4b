import { counted } from "../counted";
import type { Planning } from "../resource";
import { type Made, tellMade } from "./venvMade";

/** What `venv.foresee` of docs/protocol.md answers. */
interface Foreseen extends Pick<Made, "shared"> {
    leftovers: string[];
    scripts: { path: string; python: string }[];
}

/** Says what is not in order in a venv that is to be adopted: once it is copied, the same is told of the copy. */
export async function tellForeseen(root: string, adopt: string, work: Planning): Promise<void> {
    const { shared, leftovers, scripts } = await work.host.call<Foreseen>("venv.foresee", { root, adopt }, work);
    const told = tellMade({ notes: [], shared, leftovers }, "");
    const [first] = scripts;
    if (first !== undefined) {
        const some = counted(scripts.length, "script");
        told.push(
            `${some} of ${adopt}, which was copied from elsewhere: ${first.path} runs ${first.python}; in a release its own interpreter runs them`,
        );
    }
    if (told.length > 0) {
        work.info(told.join("\n"));
    }
}

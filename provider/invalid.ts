import { type Path, renderPath } from "./path";

/** Inputs that have the right form but cannot be meant: a file that is not there, two patches of one file. */
export class Invalid extends Error {
    constructor(readonly problems: { path: Path; text: string }[]) {
        super(problems.map(({ path, text }) => `${renderPath(path)}: ${text}`).join("\n"));
        this.name = "Invalid";
    }

    /** Throws when there is anything to say. */
    static when(problems: { path: Path; text: string }[]): void {
        if (problems.length > 0) {
            throw new Invalid(problems);
        }
    }
}

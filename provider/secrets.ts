import { readFileSync, statSync } from "node:fs";
import { withoutAccounts } from "./accounts";
import { type Path, valueAt } from "./path";
import { Asset } from "./resources/inputs/asset";

/** What is shorter stands in too many texts by chance. */
const SHORTEST = 4;
/** A part of an encoded text that is shorter could be any word. */
const SHORTEST_ENCODED = 8;
/** A line of a longer secret text is a secret of its own from this length on. */
const SHORTEST_LINE = 8;
/** Bytes of a secret file that are read to know its lines. */
const LARGEST_FILE = 1 << 20;

/** Inputs that are secret whether they were marked or not. */
const ALWAYS: Path[] = [["connection", "password"], ["connection", "becomePassword"], ["apiKey"], ["adminApiKey"]];

/** The secrets that this process was told of, kept to take them out of whatever is shown. */
export class Secrets {
    private readonly known = new Set<string>();
    private forms: string[] | undefined;

    /** Learns the values at these paths, and those that are always secret. */
    learnFrom(values: Record<string, unknown>, paths: Path[]): void {
        for (const path of [...ALWAYS, ...paths]) {
            this.learn(valueAt(values, path));
        }
    }

    /** A text without any of them, in whatever form of quotes or encoding they stand there, and without the accounts of URLs, marked or not. */
    redact(text: string): string {
        this.forms ??= [...new Set([...this.known].flatMap(formsOf))].sort((a, b) => b.length - a.length);
        const redacted = this.forms.reduce(
            (clean, form) => (clean.includes(form) ? clean.replaceAll(form, "[secret]") : clean),
            text,
        );
        return withoutAccounts(redacted);
    }

    private learn(value: unknown): void {
        if (value instanceof Asset) {
            this.learn(textOf(value));
        } else if (typeof value === "string" || typeof value === "number") {
            const text = String(value);
            const lines = text.split("\n");
            this.add(text, SHORTEST);
            for (const line of lines.length > 1 ? lines : []) {
                this.add(line.trim(), SHORTEST_LINE);
                // A line of a diff, as the file has it.
                this.add(line.replace(/^[+-]/, "").trim(), SHORTEST_LINE);
            }
        } else if (typeof value === "object" && value !== null) {
            for (const part of Object.values(value)) {
                this.learn(part);
            }
        }
    }

    private add(text: string, shortest: number): void {
        if (text.length >= shortest && !this.known.has(text)) {
            this.known.add(text);
            this.forms = undefined;
        }
    }
}

/** Whether something at `path`, above or below it is marked. */
export function isSecret(secrets: Path[], path: Path): boolean {
    return secrets.some((one) => {
        const length = Math.min(one.length, path.length);
        return one.slice(0, length).every((part, at) => String(part) === String(path[at]));
    });
}

/** The text of a secret file, so that a compiler that quotes a line of it does not tell it. */
function textOf({ path, text }: Asset): string {
    if (text !== undefined || path === undefined) {
        return text ?? "";
    }
    try {
        return statSync(path).size > LARGEST_FILE ? "" : readFileSync(path, "utf8");
    } catch {
        return ""; // what needs the file says that it cannot be read
    }
}

/** As it is; inside quotes of JSON, of Python and of a shell; in a URL; in base64, also in the middle of something longer. */
function formsOf(secret: string): string[] {
    const json = JSON.stringify(secret).slice(1, -1);
    const backslashed = secret.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
    const plain = [
        secret,
        json,
        JSON.stringify(json).slice(1, -1),
        backslashed,
        backslashed.replaceAll("'", "\\'"),
        secret.replaceAll("'", "'\\''"),
        secret.replaceAll("'", `'"'"'`),
        encodeURIComponent(secret),
    ];
    return [...plain, ...base64Forms(Buffer.from(secret)).filter((form) => form.length >= SHORTEST_ENCODED)];
}

/** base64 of the bytes at each of the three positions at which they may begin; only digits that nothing beside them decides. */
function base64Forms(bytes: Buffer): string[] {
    const whole = [bytes.toString("base64"), bytes.toString("base64url")];
    const within = [0, 1, 2].flatMap((offset) => {
        const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
        const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6)];
        return [padded.toString("base64").slice(from, to), padded.toString("base64url").slice(from, to)];
    });
    return [...whole, ...within];
}

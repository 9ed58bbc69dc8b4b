import type { z } from "zod";
import { described } from "./strict";

/** One thing that is wrong, and where, as the user sees it in the stack's file. */
export interface Issue {
    path: (string | number)[];
    message: string;
}

/** `fleet.hosts.ct200.services[0]`: a path as one would write it. */
function written(path: PropertyKey[]): string {
    return path.reduce<string>((before, step) => {
        if (typeof step === "number") {
            return `${before}[${step}]`;
        }
        const plain = /^[A-Za-z_][\w-]*$/.test(String(step));
        return plain ? `${before}.${String(step)}` : `${before}[${JSON.stringify(String(step))}]`;
    }, "fleet");
}

/** Everything that zod found, one line per fact; an issue about several unknown keys becomes several. */
export function issuesOf(error: z.ZodError): Issue[] {
    return error.issues.flatMap(meant).flatMap((issue) => {
        const messages =
            issue.code === "invalid_key" ? issue.issues.map((one) => one.message) : issue.message.split("\n");
        return messages.map((message) => ({ path: issue.path as Issue["path"], message }));
    });
}

/** Of a value that may have one of several forms: what is wrong within the one that it has, where that shows; else the issue itself. */
function meant(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
    const within =
        issue.code === "invalid_union" && issue.errors.find((form) => form.every(({ path }) => path.length > 0));
    return within ? within.map((one) => ({ ...one, path: [...issue.path, ...one.path] })) : [issue];
}

/** What zod says where a schema has no words of its own: what was expected, then what was found. */
export function words(issue: z.core.$ZodRawIssue): string | undefined {
    const found = `, found ${described(issue.input)}`;
    switch (issue.code) {
        case "invalid_type":
            return issue.input === undefined ? "is missing" : `expected ${article(issue.expected)}${found}`;
        case "invalid_value":
            return `expected ${issue.values.map((value) => `\`${String(value)}\``).join(" or ")}${found}`;
        case "too_small":
            return issue.origin === "string" || issue.origin === "array" || issue.origin === "object"
                ? `expected at least ${issue.minimum} ${issue.origin === "string" ? "character" : "entry"}${found}`
                : `expected ${issue.minimum} or more${found}`;
        case "too_big":
            return `expected ${issue.maximum} or less${found}`;
        default:
            return undefined;
    }
}

function article(expected: string): string {
    const names: Record<string, string> = {
        array: "a list",
        boolean: "true or false",
        int: "a whole number",
        number: "a number",
        object: "a mapping",
        record: "a mapping",
        string: "a text",
    };
    return names[expected] ?? expected;
}

/** What is wrong with a stack's `sglang-fleet:fleet`: every fact that was found, by its path there. */
export class ConfigError extends Error {
    constructor(readonly issues: Issue[]) {
        const lines = [...new Set(issues.map(({ path, message }) => `${written(path)}: ${message}`))];
        super(
            `sglang-fleet:fleet has ${lines.length === 1 ? "an error" : `${lines.length} errors`}:\n  ${lines.join("\n  ")}`,
        );
        this.name = "ConfigError";
    }
}

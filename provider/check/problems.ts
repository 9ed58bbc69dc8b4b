import type { z } from "zod";
import { isBelow, type Path, renderPath, valueAt } from "../path";
import { knownNames } from "./known";
import { nearest } from "./nearest";

type Issue = z.core.$ZodIssue;
interface Problem {
    path: Path;
    text: string;
}

/**
 * What is wrong with inputs, a sentence for each, all at once, in the form `overlays[2].from: …`. What lies on a path
 * that is not known yet is no problem.
 */
export function problems(schema: z.core.$ZodType, value: unknown, issues: Issue[], unknowns: Path[]): string[] {
    const found = issues
        .flatMap((issue) => describe(schema, value, issue, []))
        .filter(({ path }) => !unknowns.some((hole) => isBelow(path, hole)));
    return [...new Set(found.map(({ path, text }) => (path.length === 0 ? text : `${renderPath(path)}: ${text}`)))];
}

function describe(schema: z.core.$ZodType, value: unknown, issue: Issue, above: Path): Problem[] {
    const path = [...above, ...(issue.path as (string | number)[])];
    if (issue.code === "unrecognized_keys") {
        return issue.keys.map((key) => ({ path: [...path, key], text: unrecognised(key, knownNames(schema, path)) }));
    }
    if (issue.code === "invalid_union") {
        return likeliest(schema, value, issue, path);
    }
    if (issue.code === "invalid_type") {
        return [{ path, text: `expected ${issue.expected}, found ${show(valueAt(value, path))}` }];
    }
    if (issue.code === "invalid_value") {
        const values = issue.values.map((one) => String(one));
        const choice = values.length === 1 ? values[0] : `one of ${values.join(", ")}`;
        return [{ path, text: `expected ${choice}, found ${show(valueAt(value, path))}` }];
    }
    if (issue.code === "invalid_key" || issue.code === "invalid_element") {
        return [{ path, text: issue.issues.map((inner) => inner.message).join("; ") }];
    }
    return [
        {
            path,
            text:
                issue.code === "custom" || issue.code === "invalid_format"
                    ? issue.message
                    : `${decapitalise(issue.message)}`,
        },
    ];
}

/** Of a union the form with the fewest complaints is the one that was meant; when none stands out, all are named. */
function likeliest(
    schema: z.core.$ZodType,
    value: unknown,
    issue: Issue & { code: "invalid_union" },
    path: Path,
): Problem[] {
    const forms = issue.errors
        .map((errors) => errors.flatMap((inner) => describe(schema, value, inner, path)))
        .sort((a, b) => a.length - b.length);
    const given = valueAt(value, path);
    if (typeof given !== "object" || given === null) {
        return [{ path, text: joined(forms.flatMap((form) => form.map(({ text }) => text))) }];
    }
    if (forms.length === 1 || (forms.length > 1 && forms[0].length < forms[1].length)) {
        return forms[0];
    }
    const names = [...knownNames(schema, path)];
    const wrong = Object.keys(given).filter((key) => !names.includes(key));
    if (wrong.length > 0 && names.length > 0) {
        return wrong.map((key) => ({ path: [...path, key], text: unrecognised(key, names) }));
    }
    const heads = new Set(forms.flatMap((form) => form.map((problem) => problem.path[path.length])));
    return [{ path, text: `expected one of ${[...heads].join(", ")}` }];
}

/** `expected a, found x` and `expected b, found x` are `expected a or b, found x`. */
function joined(texts: string[]): string {
    const parts = texts.map((text) => /^expected (.*), found (.*)$/.exec(text));
    if (parts.every((part) => part !== null)) {
        return `expected ${[...new Set(parts.map((part) => part[1]))].join(" or ")}, found ${parts[0]?.[2]}`;
    }
    return [...new Set(texts)].join(", or ");
}

function unrecognised(key: string, known: Iterable<string>): string {
    const names = [...known];
    const near = nearest(key, names);
    return near === undefined
        ? `unknown name; known here: ${names.join(", ")}`
        : `unknown name; did you mean \`${near}\`?`;
}

/** The kind of what was found; never the value, as it may be a secret. */
function show(value: unknown): string {
    return value === undefined
        ? "nothing"
        : value === null
          ? "null"
          : Array.isArray(value)
            ? "an array"
            : typeof value === "object"
              ? "a map"
              : `a ${typeof value}`;
}

function decapitalise(text: string): string {
    return text.charAt(0).toLowerCase() + text.slice(1);
}

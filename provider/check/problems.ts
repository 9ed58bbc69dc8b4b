import type { z } from "zod";
import { isBelow, type Path, renderPath } from "../path";
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
        return [{ path, text: `expected ${issue.expected}, found ${show(at(value, path))}` }];
    }
    if (issue.code === "invalid_value") {
        const values = issue.values.map((one) => String(one));
        return [{ path, text: `expected one of ${values.join(", ")}, found ${show(at(value, path))}` }];
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
    const given = at(value, path);
    if (
        forms.length === 0 ||
        typeof given !== "object" ||
        given === null ||
        (forms.length > 1 && forms[0].length === forms[1].length)
    ) {
        const names = [...knownNames(schema, path)];
        const wrong =
            typeof given === "object" && given !== null ? Object.keys(given).filter((key) => !names.includes(key)) : [];
        if (wrong.length > 0 && names.length > 0) {
            return wrong.map((key) => ({ path: [...path, key], text: unrecognised(key, names) }));
        }
        return [{ path, text: `${forms.map((form) => form.map((one) => one.text).join(" and ")).join(", or ")}` }];
    }
    return forms[0];
}

function unrecognised(key: string, known: Iterable<string>): string {
    const names = [...known];
    const near = nearest(key, names);
    return near === undefined
        ? `unknown name; known here: ${names.join(", ")}`
        : `unknown name; did you mean \`${near}\`?`;
}

function at(value: unknown, path: Path): unknown {
    return path.reduce<unknown>(
        (inner, part) =>
            typeof inner === "object" && inner !== null ? (inner as Record<string | number, unknown>)[part] : undefined,
        value,
    );
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

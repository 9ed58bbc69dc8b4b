import { z } from "zod";
import { suggestion } from "./nearest";

/** An object whose unknown keys are errors, each with the nearest known key. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
    return z.strictObject(shape, {
        error: (issue) => {
            if (issue.code !== "unrecognized_keys") {
                return issue.code === "invalid_type"
                    ? `expected a mapping, found ${described(issue.input)}`
                    : undefined;
            }
            const keys = issue.keys as string[];
            return keys.map((key) => `unknown key \`${key}\`${suggestion(key, Object.keys(shape))}`).join("\n");
        },
    });
}

/** A value as an error names it: `a list`, `the text "x"`, `nothing`. */
export function described(value: unknown): string {
    if (value === undefined || value === null) {
        return "nothing";
    }
    if (Array.isArray(value)) {
        return "a list";
    }
    if (typeof value === "object") {
        return "a mapping";
    }
    return typeof value === "string" ? `the text ${JSON.stringify(value)}` : String(value);
}

/** Exactly one of `keys` is set; the error says which were. Runs even when other fields are wrong. */
export function exactlyOne<Schema extends z.ZodType>(schema: Schema, keys: string[]) {
    const set = (value: unknown) => keys.filter((key) => (value as Record<string, unknown>)[key] !== undefined);
    const named = (some: string[], joined: string) => some.map((key) => `\`${key}\``).join(joined);
    // A refinement is unknown to a JSON Schema; editors get the same rule this way.
    const rules = (schema.meta()?.allOf as unknown[] | undefined) ?? [];
    const allOf = [...rules, { oneOf: keys.map((key) => ({ required: [key] })) }];
    return schema
        .refine((value) => set(value).length === 1, {
            when: ({ value }) => typeof value === "object" && value !== null && !Array.isArray(value),
            error: ({ input }) => {
                const found = set(input);
                return `expected exactly one of ${named(keys, ", ")}; found ${found.length === 0 ? "none" : named(found, " and ")}`;
            },
        })
        .meta({ allOf });
}

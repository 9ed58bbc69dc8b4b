import type { z } from "zod";
import type { Path } from "../path";

interface Definition {
    type: string;
    shape?: Record<string, z.core.$ZodType>;
    options?: z.core.$ZodType[];
    innerType?: z.core.$ZodType;
    element?: z.core.$ZodType;
    valueType?: z.core.$ZodType;
    keyType?: z.core.$ZodType;
    entries?: Record<string, string>;
    in?: z.core.$ZodType;
}

/** The names that a schema knows at a path; of a union, those of all its forms. */
export function knownNames(schema: z.core.$ZodType, path: Path): Set<string> {
    return new Set(
        formsAt(schema, path).flatMap((form) => {
            const { shape, keyType } = define(form);
            return Object.keys(shape ?? (keyType && define(keyType).entries) ?? {});
        }),
    );
}

function formsAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType[] {
    const forms = unwrap(schema);
    if (path.length === 0) {
        return forms;
    }
    const [head, ...rest] = path;
    return forms.flatMap((form) => {
        const { shape, element, valueType } = define(form);
        const next = shape?.[head] ?? element ?? valueType;
        return next === undefined ? [] : formsAt(next, rest);
    });
}

/** Looks through optional, default and union to what a value can really be. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
    const { options, innerType, in: input } = define(schema);
    const inner = options ?? (innerType === undefined ? (input === undefined ? [] : [input]) : [innerType]);
    return inner.length === 0 ? [schema] : inner.flatMap(unwrap);
}

function define(schema: z.core.$ZodType): Definition {
    return schema._zod.def as unknown as Definition;
}

import { z } from "zod";

/**
 * A field of a resource's inputs as config takes it: may be left out, and has no default of its own, because the
 * defaults of the stack are merged before those of the resource apply. Its description, which names the default, stays.
 */
export function open<Field extends z.ZodType>(field: Field): z.ZodOptional<Inner<Field>> {
    const bare =
        field instanceof z.ZodDefault || field instanceof z.ZodPrefault || field instanceof z.ZodOptional
            ? field.unwrap()
            : field;
    const optional = (bare as Inner<Field>).optional();
    return field.description === undefined ? optional : optional.describe(field.description);
}

type Inner<Field> =
    Field extends z.ZodDefault<infer T extends z.ZodType>
        ? T
        : Field extends z.ZodPrefault<infer T extends z.ZodType>
          ? T
          : Field extends z.ZodOptional<infer T extends z.ZodType>
            ? T
            : Field;

import { z } from "zod";
import { described } from "./strict";

/** A text that is not empty. */
export const text = z.string().min(1);

/** A list of texts. */
export const texts = z.array(text);

const error = (issue: { input?: unknown }) =>
    `expected a text or a whole number, found ${described(issue.input)}; put it in quotes to say which text is meant`;

/**
 * A text, or a whole number that is taken as text. YAML turns `1.10` into 1.1 and `yes` into true before anybody sees
 * it, so other values have to be written in quotes.
 */
export const scalar = z.union([z.string({ error }), z.int({ error })], { error }).transform(String);

import { z } from "zod";
import { described } from "./strict";

const form = /^(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;
const error = (issue: { input?: unknown }) =>
    `expected a duration such as \`90s\`, \`20m\` or \`1h30m\`, or a number of seconds, found ${described(issue.input)}`;

/** Seconds; written as a number of seconds, or as `90s`, `20m`, `2h`, `1h30m`. */
export const duration = z
    .union([z.number().nonnegative({ error }), z.string().regex(form, { error })], { error })
    .transform((value) => (typeof value === "number" ? value : seconds(value)));

function seconds(value: string): number {
    const [, h, m, s] = form.exec(value) ?? [];
    return Number(h ?? 0) * 3600 + Number(m ?? 0) * 60 + Number(s ?? 0);
}

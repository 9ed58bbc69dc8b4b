import type { Placed } from "./resource";

const SECRET_INPUTS = ["apiKey", "adminApiKey"] as const;
const SHORTEST = 4;

/** Takes the secrets that we know of out of a text that may quote a log or a command. */
export function redact(text: string, inputs: Placed & { apiKey?: string; adminApiKey?: string }): string {
    const secrets = [
        inputs.connection.password,
        inputs.connection.becomePassword,
        ...SECRET_INPUTS.map((name) => inputs[name]),
    ];
    return secrets
        .filter((secret): secret is string => secret !== undefined && secret.length >= SHORTEST)
        .flatMap((secret) => [
            secret,
            JSON.stringify(secret).slice(1, -1),
            encodeURIComponent(secret),
            Buffer.from(secret).toString("base64"),
        ])
        .reduce((clean, form) => clean.replaceAll(form, "[secret]"), text);
}

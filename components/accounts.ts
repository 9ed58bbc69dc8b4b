import * as pulumi from "@pulumi/pulumi";
import { hasAccount } from "../provider/accounts";

const URLS = ["indexUrl", "extraIndexUrl", "findLinks", "archive"];

/** A source of distributions, with its URLs that hold an account marked as secrets. What is an output has the marks that its maker gave it. */
export function sealedAccounts<T>(source: T): T {
    if (!plain(source)) {
        return source;
    }
    const fields = Object.entries(source).map(([name, value]) => [
        name,
        URLS.includes(name) && [value].flat().some((url) => typeof url === "string" && hasAccount(url))
            ? pulumi.secret(value)
            : value,
    ]);
    return Object.fromEntries(fields) as T;
}

/** An object that is there itself, not one that is yet to come. */
export function plain(value: unknown): value is Record<string, unknown> {
    return (
        typeof value === "object" && value !== null && !pulumi.Output.isInstance(value) && !(value instanceof Promise)
    );
}

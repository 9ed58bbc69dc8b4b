import { Asset } from "./resources/inputs/asset";

/** JSON with sorted keys and without what is undefined: equal values, equal texts. Of an asset only its bytes count. */
export function canonical(value: unknown): string {
    return JSON.stringify(value, (_key, item: unknown) => {
        if (item instanceof Asset) {
            return { sha256: item.sha256 };
        }
        if (typeof item === "object" && item !== null && !Array.isArray(item)) {
            return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
        }
        return item;
    });
}

/** Whether two values are the same to us. */
export function same(a: unknown, b: unknown): boolean {
    return canonical(a) === canonical(b);
}

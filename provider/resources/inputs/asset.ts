import { z } from "zod";

/**
 * A text or file as the engine hands it over: where it is on the control machine, and the sha256 of its bytes. State
 * keeps no more than that of a file. A class, so that it is told apart from a map of the user's on its way back.
 */
export class Asset {
    private constructor(
        /** sha256 of the bytes, hex; "" when the engine did not say. */
        readonly sha256: string,
        readonly path: string | undefined,
        readonly text: string | undefined,
    ) {}

    static file(path: string, sha256: string): Asset {
        return new Asset(sha256, path, undefined);
    }

    /** An asset of the state: for a comparison the engine tells no more than its hash. */
    static recorded(sha256: string): Asset {
        return new Asset(sha256, undefined, undefined);
    }

    static string(text: string, sha256: string): Asset {
        return new Asset(sha256, undefined, text);
    }
}

/** The schema of a `pulumi.asset.FileAsset` or `StringAsset`. */
export const asset = z.custom<Asset>((value) => value instanceof Asset, {
    error: ({ input }) =>
        `expected a file or string asset, found ${input === undefined ? "nothing" : `a ${typeof input}`}`,
});

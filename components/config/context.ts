import type * as pulumi from "@pulumi/pulumi";

/** What a config refers to outside itself. */
export interface FleetContext {
    /** Directory of the project, absolute; paths in the config are relative to it. */
    project: string;
    /** Names of the config keys that hold secrets. */
    secrets: string[];
    /** The value of one of `secrets`. */
    secret(name: string): pulumi.Input<string>;
    /** Whether a file or directory is there; absolute path. */
    exists(path: string): boolean;
}

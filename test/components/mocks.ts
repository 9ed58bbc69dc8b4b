import * as pulumi from "@pulumi/pulumi";

/** One resource as the engine was asked for it. */
export interface Registered {
    type: string;
    name: string;
    inputs: Record<string, unknown>;
}

/** What the provider answers a fleet's question, and what it was asked. */
export interface Engine {
    /** In the order in which they were registered. */
    registered: Registered[];
    /** How many resources were registered when the provider was asked who was not reached. */
    asked: number[];
    unreached: { host: string; message: string }[];
}

const digests: Record<string, Record<string, unknown>> = {
    "sglang:index:PackageOverlay": { digest: "digest of overlays", packages: { torch: "2.11.0 abc" } },
    "sglang:index:SourcePatch": { digest: "digest of patches", files: { "module:a.b": "file abc" } },
    "sglang:index:Venv": { release: "release of venv" },
    "sglang:index:EnvVars": { digest: "digest of env" },
    "random:index/randomPassword:RandomPassword": { result: "generated" },
};

/** Stands in for the engine: records what is registered and answers as the provider would. */
export async function engine(): Promise<Engine> {
    const made: Engine = { registered: [], asked: [], unreached: [] };
    await pulumi.runtime.setMocks(
        {
            newResource: ({ type, name, inputs }) => {
                made.registered.push({ type, name, inputs });
                const endpoint = type.endsWith(":SglangService")
                    ? { endpoint: `http://${name}:${inputs.port}`, versions: { sglang: "0.5.23" }, patched: {} }
                    : {};
                return { id: `${name}-id`, state: { ...inputs, ...digests[type], ...endpoint } };
            },
            call: ({ token }) => {
                if (token !== "sglang:index:unreached") {
                    throw new Error(`no function ${token}`);
                }
                made.asked.push(made.registered.length);
                return { hosts: made.unreached };
            },
        },
        "sglang-fleet",
        "test",
    );
    return made;
}

/** The value of an output, and whether it is a secret. */
export function seen<T>(output: pulumi.Output<T>): Promise<{ value: T; secret: boolean }> {
    return new Promise((resolve) => {
        pulumi
            .all([output, pulumi.isSecret(output)])
            .apply(([value, secret]) => resolve({ value: value as T, secret }));
    });
}

/** Waits until every one of these resources is registered. */
export async function settled(resources: pulumi.Resource[]): Promise<void> {
    await seen(pulumi.all(resources.map(({ urn }) => urn)));
}

/** The names of what was registered with a type, e.g. `Venv`, in order. */
export function named(engine: Engine, type: string): string[] {
    return engine.registered.filter((one) => one.type.endsWith(`:${type}`)).map(({ name }) => name);
}

/** The inputs of the one resource with a name and a type. */
export function inputsOf(engine: Engine, type: string, name: string): Record<string, unknown> {
    const found = engine.registered.filter((one) => one.type.endsWith(`:${type}`) && one.name === name);
    if (found.length !== 1) {
        throw new Error(
            `${found.length} resources ${type} ${name} among ${engine.registered.map((one) => `${one.type} ${one.name}`).join(", ")}`,
        );
    }
    return found[0].inputs;
}

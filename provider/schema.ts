import type { AnyResource } from "./context";

/** The least schema that the engine takes: `pulumi import` asks for one. The real shapes are in resources/inputs. */
export function schema(version: string, table: ReadonlyMap<string, AnyResource>): Record<string, unknown> {
    const any = { $ref: "pulumi.json#/Any" };
    const resources = [...table].map(([token, resource]) => {
        const names = Object.keys((resource.inputs as unknown as { shape: Record<string, unknown> }).shape);
        const properties = Object.fromEntries(names.map((name) => [name, any]));
        return [token, { inputProperties: properties, properties }];
    });
    return { name: "sglang", version, resources: Object.fromEntries(resources) };
}

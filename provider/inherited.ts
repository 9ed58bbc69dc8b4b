import type { ChangeRequest } from "./change";
import type { AnyResource, Context } from "./context";
import { HostError } from "./host/host";
import type { Placed, Work } from "./resource";
import { alike } from "./twins";

/**
 * Notes in the preview what a resource that cannot be planned yet is to take over from one that left the program: when what it waits for
 * fails, the `up` that follows hears nothing of it.
 */
export async function foreseeHeir({ declared, hosts, seen }: Context, urn: string): Promise<void> {
    const place = declared.placeOf(urn);
    if (place === undefined || hosts.unreached(place.connection.name) !== undefined) {
        return;
    }
    const { thing, connection, root } = place;
    const facts =
        hosts.seen(connection, root) ??
        (await hosts
            .at(connection)
            .look(root)
            .catch(() => undefined));
    const owner = facts?.claims[thing]?.owner;
    if (owner !== undefined && declared.left(owner)) {
        seen.inherit(owner, urn);
    }
}

/** Refuses to remove what another resource of the program is about to take over, and has not yet: its making has failed. */
export async function notInherited(
    context: Context,
    resource: AnyResource,
    request: Pick<ChangeRequest, "inputs" | "state">,
    work: Work,
): Promise<void> {
    const inputs = request.inputs as unknown as Placed;
    const id = resource.id(inputs);
    const heir = (await heirs(context, work, id, inputs))[0] ?? context.seen.heir(work.owner);
    if (heir === undefined) {
        return;
    }
    // Under the other name of the machine it may have been taken over since the last look under this one.
    work.host.changed(inputs.root);
    const { claims } = await work.host.look(inputs.root);
    if (claims[id.split("/").slice(1).join("/")]?.owner === work.owner) {
        throw new HostError(work.host.label, {
            code: "inherited",
            message: `${id} is not removed: ${heir} takes its place, and has not been made`,
            remedy: "see why that failed, and run `pulumi up` again",
        });
    }
}

/** Who of the program is to be this very thing: by the host's name, or under another name of its machine, which may not have been looked at yet. */
async function heirs(
    { declared, hosts }: Context,
    work: Work,
    id: string,
    { connection, root }: Placed,
): Promise<string[]> {
    const others = declared.alike(work.urn, id).filter((one) => hosts.unreached(one.connection.name) === undefined);
    const found = others.map(async (other) => {
        if (other.connection.name === connection.name) {
            return other.urn;
        }
        const here = await work.host.look(root);
        const there =
            hosts.seen(other.connection, other.root) ??
            (await hosts
                .at(other.connection)
                .look(other.root)
                .catch(() => undefined));
        return there !== undefined && alike(here, there) ? other.urn : undefined;
    });
    return (await Promise.all(found)).filter((urn) => urn !== undefined);
}

import { isAbandoned, otherMachine } from "./abandoned";
import type { ChangeRequest } from "./change";
import type { AnyResource, Context } from "./context";
import { movedDonors } from "./donors/shown";
import { HostError } from "./host/host";
import { renderPath } from "./path";
import type { Kept, Placed, Work } from "./resource";

/** Refuses what must not be begun, before anything is written; says what a person should know of what is begun. */
export async function allowed(
    context: Context,
    resource: AnyResource,
    request: ChangeRequest,
    work: Work,
): Promise<void> {
    if (request.preview) {
        warnOfExposed(resource, work);
    }
    await sameMachine(context, resource, request, work);
    if (!request.preview) {
        unmovedDonors(context, work);
    }
    if (request.state === undefined) {
        await claimable(context, resource, request, work);
    } else if (!request.preview) {
        unmoved(context, work);
    }
}

/** Refuses a machine that is not the one of the state, and has nothing of it either. */
export async function sameMachine(
    { hosts }: Pick<Context, "hosts">,
    resource: AnyResource,
    request: Pick<ChangeRequest, "inputs" | "state">,
    work: Work,
): Promise<void> {
    const inputs = request.inputs as unknown as Placed;
    const state = request.state as unknown as Kept | undefined;
    const { connection, root } = inputs;
    const known = hosts.unreached(connection.name);
    if (known?.report.code === "other-machine") {
        throw known;
    }
    if (state?.machine === undefined || isAbandoned(connection.name)) {
        return;
    }
    const seen = hosts.seen(connection, root) ?? (await work.host.look(root));
    if (seen.machine.machineId === state.machine) {
        return;
    }
    const facts = await work.host.look(root);
    if (resource.read(facts, resource.id(inputs), { inputs, state }) === undefined) {
        throw otherMachine(connection, state, facts);
    }
}

/** What is to be made may be there already: another stack's, which is refused, or this stack's under an earlier name. */
async function claimable(
    { declared, seen }: Pick<Context, "declared" | "seen">,
    resource: AnyResource,
    request: ChangeRequest,
    work: Work,
): Promise<void> {
    const inputs = request.inputs as unknown as Placed;
    const { claims } = await work.host.look(inputs.root);
    const [kind, ...name] = resource.id(inputs).split("/").slice(1);
    const held = claims[`${kind}/${name.join("/")}`];
    if (held === undefined || held.owner === work.owner) {
        return;
    }
    const thing = `${kind} ${name.join("/")} below ${inputs.root}`;
    if (declared.isOf(work.urn, held.owner)) {
        // The label may still be that of a name before an alias.
        work.takeOver = true;
    } else if (held.urn === work.urn) {
        const whose = "a create whose state was lost, or a stack of the same name elsewhere";
        say(request, work, `${thing} is there already, made as ${held.urn} by ${whose}; it is taken over`);
    } else if (declared.left(held.owner)) {
        work.takeOver = true;
        seen.inherit(held.owner, work.urn);
        say(request, work, `${thing} is there already: it was made as ${held.urn}, and is kept as it is`);
    } else if (work.takeOver) {
        say(request, work, `${thing} is taken over from ${held.urn}, as \`takeOver\` says`);
    } else {
        throw new HostError(work.host.label, {
            code: "claimed",
            message: `${thing} belongs to ${held.urn}`,
            found: `claimed since ${new Date(held.since * 1000).toISOString()}`,
            expected: work.urn,
            remedy: "choose another name or root, or set `takeOver: true` if that stack is to lose it",
        });
    }
}

/** Refuses to write over what nobody was shown: the host moved between the preview of this command and now. */
function unmoved({ seen }: Pick<Context, "seen">, work: Work): void {
    const moved = seen.moved(work.urn);
    if (moved.length > 0) {
        throw new HostError(work.host.label, {
            code: "moved",
            message: "the host was changed since the preview, and nothing was done",
            found: `another value of ${moved.join(", ")}`,
            remedy: "look at `pulumi preview` again, then run `pulumi up`",
        });
    }
}

/** The same of donors. */
function unmovedDonors({ seen }: Pick<Context, "seen">, work: Work): void {
    const moved = movedDonors(seen, work.urn);
    if (moved.length > 0) {
        throw new HostError(work.host.label, {
            code: "moved",
            message: "a donor was changed since the preview, and nothing was done",
            found: `another ${moved.join(", ")}`,
            remedy: "look at `pulumi preview` again, then run `pulumi up`",
        });
    }
}

function warnOfExposed({ exposed = [] }: AnyResource, work: Work): void {
    for (const name of exposed.filter((one) => work.isSecret([one]))) {
        work.warn(
            `${renderPath([name])} holds a secret, and every user of the host can read a process's arguments (ps)\nTo mend it: give it by a variable of the environment, or as \`apiKey\`.`,
        );
    }
}

/** Once: the preview has said it to whoever saw one. */
function say({ preview }: ChangeRequest, work: Work, text: string): void {
    preview ? work.info(text) : work.progress(text);
}

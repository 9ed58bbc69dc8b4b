import { after, before } from "node:test";
import { expectExit } from "./command";
import { describeFleet, type Wishes } from "./fleet";
import { freePort } from "./standin";
import { Workspace } from "./workspace";

/** A workspace of one host, and a free port for its server; there once a suite's tests run. */
export interface Served {
    workspace: Workspace;
    port: number;
}

/** Has one made before the tests of the suite that calls it, with nothing described yet, and ended after them. */
export function bare(): Served {
    const made = {} as Served;
    before(async () => {
        made.workspace = await Workspace.make();
        made.port = await freePort();
    });
    after(() => made.workspace.close());
    return made;
}

/** Has one made whose host serves the stand-in before the tests of the suite that calls it. */
export function served(wishes: Omit<Wishes, "port"> = {}): Served {
    const made = bare();
    before(async () => {
        describeFleet(made.workspace, { port: made.port, ...wishes });
        expectExit(await made.workspace.up());
    });
    return made;
}

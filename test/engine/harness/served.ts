import { after, before } from "node:test";
import { expectExit } from "./command";
import { describeFleet, type Wishes } from "./fleet";
import { freePort } from "./standin";
import { Workspace } from "./workspace";

/** A workspace whose one host serves the stand-in at `port`; there once a suite's tests run. */
export interface Served {
    workspace: Workspace;
    port: number;
}

/** Has one made and served before the tests of the suite that calls it, and ended after them. */
export function served(wishes: Omit<Wishes, "port"> = {}): Served {
    const made = {} as Served;
    before(async () => {
        made.workspace = await Workspace.make();
        made.port = await freePort();
        describeFleet(made.workspace, { port: made.port, ...wishes });
        expectExit(await made.workspace.up());
    });
    after(() => made.workspace.close());
    return made;
}

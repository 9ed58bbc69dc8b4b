export { Client } from "./client";
export { expectExit, type Outcome, type Started } from "./command";
export { answerDiff, answerModule, describeFleet, rootOf, type Wishes } from "./fleet";
export { nameOf, type Plan } from "./plan";
export { endProcessesOf, kill, processesOf, type Running } from "./processes";
export { releases, server, servers, stagesSince, until } from "./serving";
export { completion, freePort, standinWheels } from "./standin";
export { type Tree, tree } from "./tree";
export { type Kept, project, Workspace } from "./workspace";

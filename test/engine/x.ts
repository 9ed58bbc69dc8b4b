import { describeFleet, freePort, Workspace, rootOf } from "./harness";
import { readFileSync, writeFileSync } from "node:fs";
(async () => {
  const w = await Workspace.make({ SGLANG_FLEET_INVENTORY: "/tmp/h5inv.json" }); const port = await freePort();
  try {
  describeFleet(w, { port, env: { PLAIN: "1" } });
  const run = async (...a: string[]) => { const t=Date.now(); const o = await w.pulumi(...a); console.log("=====", a.join(" "), o.code, (Date.now()-t)/1000, "\n" + o.output); return o; };
  await w.up();
  writeFileSync("/tmp/h5inv.json", JSON.stringify({ here: { connection: { type: "local" }, root: rootOf(w) } }));
  await run("state","delete","--yes","--force", "--target-dependents", (await w.resources())["here-chat-env"].urn);
  console.log(Object.keys(await w.resources()));
  await run("import","sglang:index:EnvVars","x-env","here/env/chat","--yes");
  await run("import","sglang:index:SglangService","x-svc","here/service/chat","--yes");
  await run("import","sglang:index:Venv","x-venv","here/venv/tiny","--yes");
  await run("import","sglang:index:EnvVars","x-env2","here/env/nope","--yes");
  await run("preview","--diff");
  for (let i=0;i<3;i++) { const t=Date.now(); await w.pulumi("preview"); console.log("preview", Date.now()-t); }
  await run("up","--yes","--skip-preview");
  } finally { await w.close(); }
})().catch(e => { console.log(e); process.exit(1); });

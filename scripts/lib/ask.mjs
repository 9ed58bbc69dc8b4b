// Asks each endpoint of a stack for one completion: `pulumi stack output endpoints --json | node ask.mjs PROMPT`.
import { text } from "node:stream/consumers";

const prompt = process.argv[2] ?? "The capital of France is";
const endpoints = JSON.parse(await text(process.stdin));
for (const [host, services] of Object.entries(endpoints)) {
    for (const [service, url] of Object.entries(services)) {
        const answer = await fetch(new URL("/v1/completions", url), {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ model: service, prompt, max_tokens: 8, temperature: 0 }),
            signal: AbortSignal.timeout(120_000),
        });
        if (!answer.ok) {
            console.error(`error: ${host}/${service} at ${url} answered ${answer.status}: ${await answer.text()}`);
            process.exitCode = 1;
            continue;
        }
        const { choices, model } = await answer.json();
        console.log(`${host}/${service} at ${url}, model ${model}: ${JSON.stringify(prompt)} => ${JSON.stringify(choices[0].text)}`);
    }
}

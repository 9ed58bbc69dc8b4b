import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { page } from "./page";
import { stackSchema } from "./schema";

/** What is generated, by its path in the project. */
export function generated(): Record<string, string> {
    return {
        "docs/config.md": page(),
        "docs/fleet.schema.json": `${JSON.stringify(stackSchema(), null, 2)}\n`,
    };
}

if (require.main === module) {
    for (const [path, text] of Object.entries(generated())) {
        writeFileSync(join(__dirname, "../..", path), text);
    }
}

import { setTimeout as sleep } from "node:timers/promises";
import { completion } from "./standin";

/** A client that asks every 0.1 s until it is stopped. */
export class Client {
    asked = 0;
    readonly failures: string[] = [];
    private running = true;
    private readonly done: Promise<void>;

    constructor(
        private readonly port: number,
        private readonly address = "127.0.0.1",
    ) {
        this.done = this.run();
    }

    /** Stops asking; returns what failed. */
    async stop(): Promise<string[]> {
        this.running = false;
        await this.done;
        return this.failures;
    }

    private async run(): Promise<void> {
        while (this.running) {
            this.asked += 1;
            await completion(this.port, undefined, this.address).catch((error: unknown) =>
                this.failures.push(String(error)),
            );
            await sleep(100);
        }
    }
}

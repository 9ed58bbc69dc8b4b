import type { Progress } from "./host";

/** Milliseconds between two lines. */
const BETWEEN = 500;

/** Counts what was sent, and says so: `sending 12 files: 1.2 of 4.0 GB, 110 MB/s`. */
export class Meter {
    private readonly began = Date.now();
    private told = this.began;
    private done = 0;

    constructor(
        private readonly what: string,
        private readonly total: number,
        private readonly progress?: Progress,
        private readonly clock: () => number = Date.now,
    ) {}

    /** Notes bytes that were sent. */
    add(size: number): void {
        this.done += size;
        const now = this.clock();
        if (now - this.told >= BETWEEN) {
            this.told = now;
            const rate = this.done / ((now - this.began) / 1000);
            this.progress?.(`sending ${this.what}: ${share(this.done, this.total)}, ${(rate / 1e6).toFixed(0)} MB/s`);
        }
    }
}

/** `1.2 of 4.0 GB`, or `12 of 80 MB`. */
function share(done: number, total: number): string {
    return total >= 1e9
        ? `${(done / 1e9).toFixed(1)} of ${(total / 1e9).toFixed(1)} GB`
        : `${(done / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB`;
}

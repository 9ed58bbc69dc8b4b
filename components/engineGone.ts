import { status } from "@grpc/grpc-js";

/** Exit code of a program about which everything was said already. */
const TOLD = 32;

/**
 * Lets this program end without a word once the engine has closed its doors, as it does after ^C and after a failure: what is
 * still to be registered then goes nowhere, and the SDK would print a stack trace for each of it. For programs, not for libraries.
 */
export function endWithEngine(): void {
    process.prependListener("unhandledRejection", (reason) => {
        if (isEngineGone(reason)) {
            process.exit(TOLD);
        }
    });
}

/** Whether a call failed because nobody listens any more. */
export function isEngineGone(error: unknown): boolean {
    const code = (error as { code?: unknown } | undefined)?.code;
    return error instanceof Error && (code === status.UNAVAILABLE || code === status.CANCELLED);
}

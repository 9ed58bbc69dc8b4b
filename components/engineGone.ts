import { status } from "@grpc/grpc-js";

/** Exit code of a program about which everything was said already. */
const TOLD = 32;

/** How the engine says that nobody answers at the provider's end; it passes on gRPC's text, and no code. */
const PROVIDER_GONE =
    /invocation of sglang:\S+ returned an error: (error reading from server|connection error|transport|the connection is|grpc: the client connection is closing|EOF)/;

/**
 * Lets this program end without a word once the engine has closed its doors, as it does after ^C and after a failure, or once the
 * provider has ended, which the engine reports: what is still to be registered then goes nowhere, and the SDK would print a stack
 * trace for each of it. The stack's outputs stay as they were. For programs, not for libraries.
 */
export function endWithEngine(): void {
    process.prependListener("unhandledRejection", (reason) => {
        if (isEngineGone(reason) || isProviderGone(reason)) {
            process.exit(TOLD);
        }
    });
}

/** Whether a call failed because nobody listens any more. */
export function isEngineGone(error: unknown): boolean {
    const code = (error as { code?: unknown } | undefined)?.code;
    return error instanceof Error && (code === status.UNAVAILABLE || code === status.CANCELLED);
}

function isProviderGone(error: unknown): boolean {
    return error instanceof Error && PROVIDER_GONE.test(error.message);
}

/** What no process loads: metadata, and what an interrupted installer left. */
const NOT_LOADED = /(^|\/)([^/]+\.(dist|egg)-info|~[^/]*)(\/|$)/;
/** What a server may have read: code, kernels that are compiled while it runs, programs, and SGLang's own tables of kernels. */
const LOADED =
    /\.(py|pyc|pth|so(\.\d+)*|cuh?|c|cc|cpp|h|hpp|ptx|cubin)$|(^|\/)bin\/|^pyvenv\.cfg$|^\(manifest\)$|(^|\/)sglang\/.*\.json$/;

/** Whether a process may have loaded a file of its release; data and texts restart nobody. The agent's `mended.py` knows the same. */
export function isLoaded(path: string): boolean {
    return LOADED.test(path) && !NOT_LOADED.test(path);
}

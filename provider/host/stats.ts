/** What was exchanged with one host so far. */
export interface HostStats {
    /** Agents that were started, each one a login. */
    starts: number;
    requests: number;
    replies: number;
    /** Bytes to the agent: bundle, requests, contents. */
    sent: number;
    /** Bytes from the agent, after it began. */
    received: number;
}

export function noStats(): HostStats {
    return { starts: 0, requests: 0, replies: 0, sent: 0, received: 0 };
}

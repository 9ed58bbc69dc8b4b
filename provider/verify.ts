/**
 * Whether every file is to be hashed, not only those that are watched: SGLANG_FLEET_VERIFY=1, for preview, up and refresh alike.
 * Empty, 0, false and no mean that it is not.
 */
export function verifying(given = process.env.SGLANG_FLEET_VERIFY): boolean {
    return !["", "0", "false", "no"].includes((given ?? "").toLowerCase());
}

/** A number with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
    return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

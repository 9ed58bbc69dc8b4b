/** One word for a POSIX shell, csh and fish alike: plain when it is harmless, else in single quotes. */
export function quoted(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line that a shell splits into just these words. */
export function line(words: string[]): string {
    return words.map(quoted).join(" ");
}

/** What `sh` is given for a user's command: a script as it is, a list of words as one command line. */
export function script(run: string | string[]): string {
    return typeof run === "string" ? run : line(run);
}

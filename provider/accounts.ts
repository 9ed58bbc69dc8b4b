const ACCOUNT = /(:\/\/)[^/\s]*@/g;

/** Whether a text holds a URL with an account, as `https://user:password@host/…`. */
export function hasAccount(text: string): boolean {
    return text.search(ACCOUNT) >= 0;
}

/** A text without the users and passwords of its URLs. */
export function withoutAccounts(text: string): string {
    return text.replace(ACCOUNT, "$1…@");
}

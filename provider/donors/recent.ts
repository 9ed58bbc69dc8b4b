/** Bytes of a content that are kept in memory while it comes. */
const MOST = 4 << 20;

/** What came last, still in memory: who keeps step needs no look at the disk. */
export class Recent {
    private pieces: { at: number; data: Buffer }[] = [];
    private size = 0;

    add(at: number, data: Buffer): void {
        this.pieces.push({ at, data });
        this.size += data.length;
        while (this.size > MOST && this.pieces.length > 1) {
            this.size -= this.pieces.shift()?.data.length ?? 0;
        }
    }

    clear(): void {
        [this.pieces, this.size] = [[], 0];
    }

    /** The bytes from an offset to the end of their piece; undefined when they are not here. */
    from(offset: number): Buffer | undefined {
        for (let index = this.pieces.length - 1; index >= 0; index--) {
            const { at, data } = this.pieces[index];
            if (offset >= at) {
                return offset < at + data.length ? data.subarray(offset - at) : undefined;
            }
        }
        return undefined;
    }
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeFrame, type Frame, FrameReader } from "../../provider/host/frames";

test("frames come out as they went in, however the stream is cut and whatever noise stands before", () => {
    const frame = fc.record({
        header: fc.record({ id: fc.nat(), text: fc.string() }),
        body: fc.uint8Array({ maxLength: 200 }),
    });
    fc.assert(
        fc.property(
            fc.array(frame, { maxLength: 5 }),
            fc.string(),
            fc.array(fc.integer({ min: 1, max: 50 })),
            (frames, noise, cuts) => {
                const stream = Buffer.concat([
                    Buffer.from(`${noise}\n@sglang-ready m0\n`),
                    ...frames.map(({ header, body }) => encodeFrame(header, body)),
                ]);
                const reader = new FrameReader("m0");
                const got: Frame[] = [];
                let at = 0;
                for (const cut of [...cuts, stream.length]) {
                    got.push(...reader.push(stream.subarray(at, at + cut)));
                    at += cut;
                }
                assert.deepEqual(
                    got.map(({ header, body }) => ({ header, body: [...body] })),
                    frames.map(({ header, body }) => ({ header: { ...header }, body: [...body] })),
                );
            },
        ),
    );
});

test("the body of a reply is handed on in the pieces in which it comes, and is whole", () => {
    const sizes = fc.array(fc.nat({ max: 300 }), { maxLength: 6 });
    fc.assert(
        fc.property(sizes, fc.array(fc.integer({ min: 1, max: 90 })), (lengths, cuts) => {
            const bodies = lengths.map((length, at) => Buffer.alloc(length, at + 1));
            const stream = Buffer.concat([
                Buffer.from("\n@sglang-ready m0\n"),
                ...bodies.map((body) => encodeFrame({ id: 1, body: true }, body)),
                encodeFrame({ id: 1, result: {} }),
            ]);
            const reader = new FrameReader("m0");
            const got: Frame[] = [];
            let at = 0;
            for (const cut of [...cuts, stream.length]) {
                got.push(...reader.push(stream.subarray(at, at + cut)));
                at += cut;
            }
            const pieces = got.filter(({ header }) => header.body === true).map(({ body }) => body);
            assert.deepEqual(Buffer.concat(pieces), Buffer.concat(bodies));
            assert.deepEqual(got.at(-1)?.header, { id: 1, result: {} });
        }),
    );
});

test("the line of another run is noise", () => {
    const reader = new FrameReader("m1");
    assert.deepEqual(reader.push(Buffer.from("\n@sglang-ready m0\n")), []);
    assert.equal(reader.isReady, false);
});

test("a length that no frame of ours has is an error", () => {
    const reader = new FrameReader("m1");
    assert.throws(() => reader.push(Buffer.from("\n@sglang-ready m1\nfoo: command not found")), /stream is broken/);
});

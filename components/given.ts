import type * as pulumi from "@pulumi/pulumi";
import type { Asset } from "../provider/resources/inputs";

/** What a program may give where the provider takes a T: outputs of other resources at each level, and Pulumi's assets. */
export type Given<T> = [T] extends [boolean | undefined]
    ? pulumi.Input<boolean> | Extract<T, undefined>
    : T extends Asset
      ? pulumi.asset.Asset
      : T extends readonly (infer Element)[]
        ? pulumi.Input<Given<Element>[]>
        : T extends object
          ? pulumi.Input<Fields<T>>
          : T extends undefined
            ? undefined
            : pulumi.Input<T>;

/** An object that is there itself, with fields that may be outputs. */
export type Fields<T> = { [Key in keyof T]: Given<T[Key]> };
